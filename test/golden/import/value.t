# An input that is given a value is a constant, and decides an If.
# RUN: heddle opt test/golden/import/models/if_run_time.onnx --value c=0
#= graph net {
#=   input x f32[2]
#=   input z f32[1]
#=   b f32[2] = mul(x, z)
#=   y f32[2] = identity(b) @choose
#=   output y
#= }
