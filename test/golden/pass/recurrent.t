# Batch first becomes time first; zero states and bias go, the state that is an input and other activations stay.
# RUN: heddle opt --pass recurrent %s
graph g {
  input x f32[2,3,2]
  input h0 f32[2,1,2]
  const w2 f32[1,2,2] = {0.5, -0.25, 0.75, 1.0}
  const r2 f32[1,2,2] = {0.25, 0.5, -0.75, 0.5}
  const zero f32[1,4] = {0.0, 0.0, 0.0, 0.0}
  const some f32[1,4] = {0.0, 0.0, 0.5, 0.0}
  const len i32[2] = {3, 3}
  const short i32[2] = {2, 1}
  y ?, yh ? = rnn(x, w2, r2, zero, len, h0) hidden_size=2 layout=1 direction="forward" activations="Tanh" clip=0.0
  z ?, - = rnn(y2, w2, r2, some, short) hidden_size=2 activations="Relu"
  y2 ? = transpose(x) perm=[1,0,2]
  output y
  output yh
  output z
}
#= graph g {
#=   input x f32[2,3,2]
#=   input h0 f32[2,1,2]
#=   const w2 f32[1,2,2] = {0x1p-1, -0x1p-2, 0x1.8p-1, 0x1p+0}
#=   const r2 f32[1,2,2] = {0x1p-2, 0x1p-1, -0x1.8p-1, 0x1p-1}
#=   const some f32[1,4] = {0x0p+0, 0x0p+0, 0x1p-1, 0x0p+0}
#=   const short i32[2] = {2, 1}
#=   x_12 f32[3,2,2] = transpose(x) @y_3 perm=[1,0,2]
#=   h0_13 f32[1,2,2] = transpose(h0) @y_4 perm=[1,0,2]
#=   y_14 f32[3,1,2,2], yh_15 f32[1,2,2] = rnn(x_12, w2, r2, -, -, h0_13) @y hidden_size=2
#=   y2 f32[3,2,2] = transpose(x) perm=[1,0,2]
#=   z f32[3,1,2,2], - = rnn(y2, w2, r2, some, short) hidden_size=2 activations="Relu"
#=   y f32[2,3,1,2] = transpose(y_14) @y_5 perm=[2,0,1,3]
#=   yh f32[2,1,2] = transpose(yh_15) @y_6 perm=[1,0,2]
#=   output y
#=   output yh
#=   output z
#= }
