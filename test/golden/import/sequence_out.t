# RUN: heddle opt test/golden/import/models/sequence_out.onnx
# EXIT: 1
#= heddle opt: graph output 'y' is a sequence; only tensors leave a network
#=   while importing test/golden/import/models/sequence_out.onnx
