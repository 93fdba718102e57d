# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[1,2,2,2]
  input r i8[3,2]
  const s f32[] = {0.5}
  const z i8[] = {0}
  const zw i8[] = {1}
  const w i8[3,2,1,1] = {1, 2, 3, -4, 5, 6}
  const b f32[3] = {1.0, 2.0, 3.0}
  const gamma f32[3] = {2.0, -1.0, 0.0}
  const beta f32[3] = {0.5, 0.25, -1.0}
  const mean f32[3] = {1.0, 1.0, 1.0}
  const var f32[3] = {4.0, 4.0, 4.0}
  const v i8[2,3] = {1, 2, 3, 4, 5, 6}
  const low i8[3,2,1,1] = {1, 2, -128, 4, 5, 6}
  d ? = dequantize(x, s, z)
  wd ? = dequantize(w, s, zw)
  c ? = conv(d, wd, b) kernel_shape=[1,1]
  n ? = batchnorm(c, gamma, beta, mean, var) epsilon=0.0
  a ? = relu(n)
  y ? = quantize(a, s, z)
  e ? = dequantize(r, s, z)
  vd ? = dequantize(v, s, z)
  m ? = matmul(e, vd)
  k ? = batchnorm(m, gamma, beta, mean, var) epsilon=0.0
  u ? = quantize(k, s, z)
  ld ? = dequantize(low, s, zw)
  h ? = conv(d, ld) kernel_shape=[1,1]
  i ? = batchnorm(h, gamma, beta, mean, var) epsilon=0.0
  t ? = quantize(i, s, z)
  output y
  output u
  output t
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   input r i8[3,2]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {0}
#=   const zw i8[] = {1}
#=   const gamma f32[3] = {0x1p+1, -0x1p+0, 0x0p+0}
#=   const beta f32[3] = {0x1p-1, 0x1p-2, -0x1p+0}
#=   const mean f32[3] = {0x1p+0, 0x1p+0, 0x1p+0}
#=   const var f32[3] = {0x1p+2, 0x1p+2, 0x1p+2}
#=   const low i8[3,2,1,1] = {1, 2, -128, 4, 5, 6}
#=   const w_28.i8 i8[3,2,1,1] = {0, 1, -2, 5, 0, 0}
#=   const norm.bias.i32 i32[3] = {2, -2, -4}
#=   const w_28.i8.scale f32[3] = {0x1p-1, 0x1p-2, 0x1p-1}
#=   const v_33.i8 i8[3,2] = {1, 4, -2, -5, 0, 0}
#=   const norm.bias_37.i32 i32[3] = {-2, 6, -4}
#=   const v_33.i8.scale f32[3] = {0x1p-1, 0x1p-2, 0x1p-1}
#=   d f32[1,2,2,2] = dequantize(x, s, z)
#=   ld f32[3,2,1,1] = dequantize(low, s, zw)
#=   h f32[1,3,2,2] = conv(d, ld) kernel_shape=[1,1]
#=   i f32[1,3,2,2] = batchnorm(h, gamma, beta, mean, var) epsilon=0x0p+0
#=   t i8[1,3,2,2] = quantize(i, s, z)
#=   y i8[1,3,2,2] = qconv(x, w_28.i8, norm.bias.i32, w_28.i8.scale) @c_16 to="i8" y_zp=0 lo=0 hi=127 kernel_shape=[1,1] x_zp=0
#=   u i8[3,3] = qgemm(r, v_33.i8, norm.bias_37.i32, v_33.i8.scale) @m_18 to="i8" y_zp=0 lo=-128 hi=127 x_zp=0
#=   output y
#=   output u
#=   output t
#= }
