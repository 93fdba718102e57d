# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[2,3]
  const s f32[] = {0.5}
  const z i8[] = {1}
  const w i8[2,3] = {1, 2, 3, 4, 5, 6}
  const ws f32[2] = {0.5, 0.25}
  const wz i8[2] = {0, 0}
  const v i8[6] = {1, 2, 3, 4, 5, 6}
  const vz i8[6] = {0, 0, 0, 0, 0, 0}
  const vs f32[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
  d ? = dequantize(x, s, z)
  wd ? = dequantize(w, ws, wz) axis=0
  t ? = transpose(wd) perm=[1,0]
  p ? = matmul(d, t)
  y ? = quantize(p, s, z)
  vd ? = dequantize(v, vs, vz) axis=0
  r ? = reshape(vd) shape=[3,2]
  p2 ? = matmul(d, r)
  y2 ? = quantize(p2, s, z)
  output y
  output y2
}
#= graph g {
#=   input x i8[2,3]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {1}
#=   const v i8[6] = {1, 2, 3, 4, 5, 6}
#=   const vz i8[6] = {0, 0, 0, 0, 0, 0}
#=   const vs f32[6] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2, 0x1.4p+2, 0x1.8p+2}
#=   const t.moved.i8 i8[2,3] = {1, 2, 3, 4, 5, 6}
#=   const bias.i32 i32[2] = {0, 0}
#=   const t.moved.i8.scale f32[2] = {0x1p-1, 0x1p-2}
#=   d f32[2,3] = dequantize(x, s, z)
#=   vd f32[6] = dequantize(v, vs, vz) axis=0
#=   r f32[3,2] = reshape(vd) shape=[3,2]
#=   p2 f32[2,2] = matmul(d, r)
#=   y2 i8[2,2] = quantize(p2, s, z)
#=   y i8[2,2] = qgemm(x, t.moved.i8, bias.i32, t.moved.i8.scale) @p to="i8" y_zp=1 lo=-128 hi=127 x_zp=1
#=   output y
#=   output y2
#= }
