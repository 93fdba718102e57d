# RUN: heddle opt test/golden/import/models/sequence_as_tensor.onnx
# EXIT: 1
#= heddle opt: node 'relu' (Relu): input 0 ('s') is a sequence, not a tensor
#=   while importing test/golden/import/models/sequence_as_tensor.onnx
