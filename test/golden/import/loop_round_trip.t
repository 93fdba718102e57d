# RUN: heddle opt test/golden/import/models/loop.onnx -o /tmp/heddle_loop.$$ && heddle opt /tmp/heddle_loop.$$ && rm /tmp/heddle_loop.$$
#= graph net {
#=   input x f32[2]
#=   input step f32[1]
#=   const n i64[] = {3}
#=   last f32[2], all f32[3,2] = loop(n, -, x, step) @repeat body=graph body {
#=     input i i64[]
#=     input go bool[]
#=     input s f32[2]
#=     input step f32[1]
#=     f f32[] = cast(i) to="f32"
#=     t f32[2] = add(s, f)
#=     u f32[2] = add(t, step)
#=     go_on bool[] = identity(go)
#=     output go_on
#=     output u
#=     output t
#=   } n_carried=1
#=   output last
#=   output all
#= }
