# RUN: heddle opt test/golden/import/models/gradient_elsewhere.onnx
# EXIT: 1
#= heddle opt: node 'gradient' (Gradient): input 0 is not 'x' of xs; want the tensors of xs, then of zs
#=   while importing test/golden/import/models/gradient_elsewhere.onnx
