# RUN: heddle opt --pass integer,qdq %s
graph g {
  input x u8[1,2,3,3]
  const w u8[2,2,1,1] = {1, 2, 3, 255}
  const xz u8[] = {7}
  const wz u8[] = {2}
  const b i32[1,2,1,1] = {40, -50}
  const s f32[1,2,1,1] = {0.5, 0.25}
  const ys f32[] = {2.0}
  const yz u8[] = {3}
  i ? = convinteger(x, w, xz, wz) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
  a ? = add(i, b)
  c ? = cast(a) to="f32"
  m ? = mul(c, s)
  r ? = relu(m)
  q ? = quantize(r, ys, yz)
  v ? = reshape(q) shape=[9,2]
  const w2 i8[2,3] = {1, 2, 3, 4, 5, 6}
  const c2 f32[3] = {1.0, 2.0, 0.5}
  const s2 f32[] = {0.5}
  i2 ? = matmulinteger(v, w2, yz)
  f2 ? = cast(i2) to="f32"
  m2 ? = mul(s2, f2)
  a2 ? = add(m2, c2)
  q2 ? = quantize(a2, ys, yz)
  const w3 i8[3,2] = {1, 2, 3, 4, 5, 6}
  const z3 i32[] = {0}
  i3 ? = matmulinteger(q2, w3, yz)
  d3 ? = dequantize(i3, s2, z3)
  y ? = quantize(d3, ys, yz)
  output y
}
#= graph g {
#=   input x u8[1,2,3,3]
#=   const w.i16 i16[2,2,1,1] = {-1, 0, 1, 253}
#=   const b_41.f.i32 i32[2] = {40, -50}
#=   const w.i16.scale f32[2] = {0x1p-2, 0x1p-3}
#=   const w2.i8 i8[3,2] = {1, 4, 2, 5, 3, 6}
#=   const c2_32.i32 i32[3] = {2, 4, 1}
#=   const w2.i8.scale f32[3] = {0x1p-2, 0x1p-2, 0x1p-2}
#=   const w3.i8 i8[2,3] = {1, 3, 5, 2, 4, 6}
#=   const bias.i32 i32[2] = {0, 0}
#=   const w3.i8.scale f32[2] = {0x1p-2, 0x1p-2}
#=   q u8[1,2,3,3] = qconv(x, w.i16, b_41.f.i32, w.i16.scale) @i to="u8" y_zp=3 lo=3 hi=255 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0] x_zp=7
#=   v u8[9,2] = reshape(q) shape=[9,2]
#=   q2 u8[9,3] = qgemm(v, w2.i8, c2_32.i32, w2.i8.scale) @i2_17 to="u8" y_zp=3 lo=0 hi=255 x_zp=3
#=   y u8[9,2] = qgemm(q2, w3.i8, bias.i32, w3.i8.scale) @i3 to="u8" y_zp=3 lo=0 hi=255 x_zp=3
#=   output y
#= }
