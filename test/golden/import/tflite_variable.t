# RUN: heddle opt test/golden/import/models/variable.tflite
#= graph main {
#=   input x f32[2]
#=   input v f32[2]
#=   variable v f32[2] = {0x1.8p+1, 0x1.8p+1}
#=   y_4 f32[2] = add(x, v) @y
#=   y f32[2] = identity(y_4) @y_1
#=   v.next f32[2] = identity(y_4)
#=   output y
#=   output v.next
#= }
