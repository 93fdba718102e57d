# Left as it is: somebody reads the float, the zero point comes with the run, the scale is no constant.
# RUN: heddle opt --pass integer %s
graph g {
  input x u8[4,2]
  input z u8[]
  input t f32[]
  const w i8[2,2] = {1, 2, 3, 4}
  const xz u8[] = {7}
  const s f32[] = {0.5}
  const one f32[] = {1.0}
  i ? = matmulinteger(x, w, xz)
  c ? = cast(i) to="f32"
  y ? = mul(c, s)
  q ? = quantize(y, one, xz)
  i2 ? = matmulinteger(x, w, z)
  c2 ? = cast(i2) to="f32"
  m2 ? = mul(c2, s)
  q2 ? = quantize(m2, one, xz)
  i3 ? = matmulinteger(q, w, xz)
  c3 ? = cast(i3) to="f32"
  m3 ? = mul(c3, t)
  q3 ? = quantize(m3, one, xz)
  output y
  output q2
  output q3
}
#= graph g {
#=   input x u8[4,2]
#=   input z u8[]
#=   input t f32[]
#=   const w i8[2,2] = {1, 2, 3, 4}
#=   const xz u8[] = {7}
#=   const s f32[] = {0x1p-1}
#=   const one f32[] = {0x1p+0}
#=   i i32[4,2] = matmulinteger(x, w, xz)
#=   c f32[4,2] = cast(i) to="f32"
#=   y f32[4,2] = mul(c, s)
#=   q u8[4,2] = quantize(y, one, xz)
#=   i2 i32[4,2] = matmulinteger(x, w, z)
#=   c2 f32[4,2] = cast(i2) to="f32"
#=   m2 f32[4,2] = mul(c2, s)
#=   q2 u8[4,2] = quantize(m2, one, xz)
#=   i3 i32[4,2] = matmulinteger(q, w, xz)
#=   c3 f32[4,2] = cast(i3) to="f32"
#=   m3 f32[4,2] = mul(c3, t)
#=   q3 u8[4,2] = quantize(m3, one, xz)
#=   output y
#=   output q2
#=   output q3
#= }
