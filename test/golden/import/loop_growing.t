# RUN: heddle opt test/golden/import/models/loop_growing.onnx
#= graph net {
#=   input n i64[]
#=   input x f32[2]
#=   y ? = loop(n, -, x) @repeat body=graph growing {
#=     input i i64[]
#=     input go bool[]
#=     input s ?
#=     u ? = concat(s, s) axis=0
#=     go_on bool[] = identity(go) @g
#=     output go_on
#=     output u
#=   } n_carried=1
#=   output y
#= }
