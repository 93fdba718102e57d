# Channels of which each moves by its own columns or rows, with constants or a pad behind them: a product by 0 and 1 of
# single channels. Not where two bytes fill.
# RUN: heddle opt --pass shuffle %s
graph g {
  input x i8[1,2,3,4]
  const w i8[4,2,1,1] = {5,0,9,1,-4,2,-4,1}
  const b i32[4] = {0,0,0,0}
  const s f32[4] = {0.1,0.1,0.1,0.1}
  const edge i8[1,2,3,1] = {5,5,5,5,5,5}
  const other i8[1,2,3,1] = {6,6,6,6,6,6}
  const row i8[] = {5}
  const pads i64[8] = {0,0,1,0,0,0,0,0}
  const zero i64[1] = {0}
  const one i64[1] = {1}
  const two i64[1] = {2}
  const three i64[1] = {3}
  const four i64[1] = {4}
  c ? = qconv(x, w, b, s) kernel_shape=[1,1]
  p ? = slice(c, zero, two, one)
  q ? = slice(c, two, four, one)
  p1 ? = slice(p, one, four, three)
  p2 ? = concat(p1, edge) axis=3
  q1 ? = pad(q, pads, row)
  q2 ? = slice(q1, zero, three, two)
  t ? = concat(p2, q2) axis=1
  y ? = qrescale(t)
  q3 ? = slice(q, zero, three, three)
  q4 ? = concat(other, q3) axis=3
  u ? = concat(p2, q4) axis=1
  z ? = qrescale(u)
  output y
  output z
}
#= graph g {
#=   input x i8[1,2,3,4]
#=   const w i8[4,2,1,1] = {5, 0, 9, 1, -4, 2, -4, 1}
#=   const b i32[4] = {0, 0, 0, 0}
#=   const s f32[4] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const edge i8[1,2,3,1] = {5, 5, 5, 5, 5, 5}
#=   const other i8[1,2,3,1] = {6, 6, 6, 6, 6, 6}
#=   const zero i64[1] = {0}
#=   const one i64[1] = {1}
#=   const two i64[1] = {2}
#=   const three i64[1] = {3}
#=   const four i64[1] = {4}
#=   const t.moves i8[4,1,2,2] = {0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0}
#=   const t.bias i32[4] = {0, 0, 0, 0}
#=   const t.one f32[1] = {0x1p+0}
#=   c i8[1,4,3,4] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   p i8[1,2,3,4] = slice(c, zero, two, one)
#=   q i8[1,2,3,4] = slice(c, two, four, one)
#=   p1 i8[1,2,3,3] = slice(p, one, four, three)
#=   p2 i8[1,2,3,4] = concat(p1, edge) axis=3
#=   t_26 i8[1,4,3,4] = qconv(c, t.moves, t.bias, t.one) @t to="i8" x_zp=5 y_zp=5 lo=-128 hi=127 moves=1 group=4 kernel_shape=[2,2] strides=[1,1] pads=[1,0,0,1]
#=   y i8[1,4,3,4] = qrescale(t_26)
#=   q3 i8[1,2,3,3] = slice(q, zero, three, three)
#=   q4 i8[1,2,3,4] = concat(other, q3) axis=3
#=   u i8[1,4,3,4] = concat(p2, q4) axis=1
#=   z i8[1,4,3,4] = qrescale(u)
#=   output y
#=   output z
#= }
