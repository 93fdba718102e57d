# A square is a function of one tensor, so a table; products of two tensors, of 16 bits, and quotients stay.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[1,4,2]
  input y i8[1,4,2]
  input w i16[1,4,2]
  const s f32[] = {0.25}
  const t f32[] = {0.5}
  const z i8[] = {3}
  const o i16[] = {0}
  const k i8[] = {-2}
  d f32[1,4,2] = dequantize(x, s, z)
  e f32[1,4,2] = dequantize(y, s, z)
  f f32[1,4,2] = dequantize(w, s, o)
  a f32[1,4,2] = mul(d, d)
  qa i8[1,4,2] = quantize(a, t, k)
  b f32[1,4,2] = mul(d, e)
  qb i8[1,4,2] = quantize(b, t, k)
  c f32[1,4,2] = mul(f, f)
  qc i16[1,4,2] = quantize(c, t, o)
  h f32[1,4,2] = div(d, d)
  qh i8[1,4,2] = quantize(h, t, k)
  output qa
  output qb
  output qc
  output qh
}
#= graph g {
#=   input x i8[1,4,2]
#=   input y i8[1,4,2]
#=   input w i16[1,4,2]
#=   const a.table i8[256] = #4431b7ae
#=   qa i8[1,4,2] = qtable(x, a.table) @a
#=   qb i8[1,4,2] = qmul(x, y) @b to="i8" y_zp=-2 lo=-128 hi=127 a_zp=3 b_zp=3 scale=0x1p-3
#=   qc i16[1,4,2] = qmul(w, w) @c to="i16" y_zp=0 lo=-32768 hi=32767 a_zp=0 b_zp=0 scale=0x1p-3
#=   qh i8[1,4,2] = qdiv(x, x) @h to="i8" y_zp=-2 lo=-128 hi=127 a_zp=3 b_zp=3 scale=0x1p+1
#=   output qa
#=   output qb
#=   output qc
#=   output qh
#= }
