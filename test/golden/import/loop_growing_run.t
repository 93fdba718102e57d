# RUN: heddle opt test/golden/import/models/loop_growing.onnx --inputs test/golden/import/cases/loop_growing/test_data_set_0
#= graph net specialised {
#=   input n i64[]
#=   input x f32[2]
#=   y f32[8] = loop(n, -, x) @repeat body=graph growing {
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
