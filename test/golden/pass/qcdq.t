# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[1,2,2,2]
  const s f32[] = {0.5}
  const z i8[] = {1}
  const lo i8[] = {-7}
  const hi i8[] = {8}
  const w i8[2,2,1,1] = {1, 2, 3, 4}
  d ? = dequantize(x, s, z)
  wd ? = dequantize(w, s, z)
  c ? = conv(d, wd) kernel_shape=[1,1]
  q ? = quantize(c, s, z)
  k ? = clip(q, lo, hi)
  e ? = dequantize(k, s, z)
  c2 ? = conv(e, wd) kernel_shape=[1,1]
  y ? = quantize(c2, s, z)
  v ? = clip(x, lo)
  m ? = clip(v, hi, lo)
  n ? = max(m, lo)
  o ? = min(n, hi)
  output y
  output m
  output o
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   const w.i8 i8[2,2,1,1] = {0, 1, 2, 3}
#=   const bias.i32 i32[2] = {0, 0}
#=   const w.i8.scale f32[2] = {0x1p-1, 0x1p-1}
#=   const w.i8_24 i8[2,2,1,1] = {0, 1, 2, 3}
#=   const bias.i32_25 i32[2] = {0, 0}
#=   const w.i8_24.scale f32[2] = {0x1p-1, 0x1p-1}
#=   v i8[1,2,2,2] = qrescale(x) to="i8" x_zp=0 y_zp=0 lo=-7 hi=127 scale=0x1p+0
#=   m i8[1,2,2,2] = qrescale(v) to="i8" x_zp=0 y_zp=0 lo=-7 hi=-7 scale=0x1p+0
#=   n i8[1,2,2,2] = qrescale(m) to="i8" x_zp=0 y_zp=0 lo=-7 hi=127 scale=0x1p+0
#=   o i8[1,2,2,2] = qrescale(n) to="i8" x_zp=0 y_zp=0 lo=-128 hi=8 scale=0x1p+0
#=   k i8[1,2,2,2] = qconv(x, w.i8, bias.i32, w.i8.scale) @c to="i8" y_zp=1 lo=-7 hi=8 kernel_shape=[1,1] x_zp=1
#=   y i8[1,2,2,2] = qconv(k, w.i8_24, bias.i32_25, w.i8_24.scale) @c2 to="i8" y_zp=1 lo=-128 hi=127 kernel_shape=[1,1] x_zp=1
#=   output y
#=   output m
#=   output o
#= }
