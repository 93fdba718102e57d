# Nodes stand behind those that they read, whatever the order of the file.
# RUN: heddle opt test/golden/import/models/unsorted.onnx
#= graph net {
#=   input x f32[1,4]
#=   a f32[1,4] = neg(x) @first
#=   b f32[1,4] = add(a, x) @middle
#=   y f32[1,4] = relu(b) @last
#=   output y
#= }
