# RUN: heddle opt --pass qdq,simplify %s
graph g {
  input x u8[1,4,4,2]
  input v u8[1,2,3,3]
  const s f32[] = {0.5}
  const r f32[] = {0.25}
  const zu u8[] = {127}
  const zo u8[] = {120}
  const zi i8[] = {-1}
  const w i8[2,2,1,1] = {1, 2, 3, 4}
  const zw i8[] = {0}
  d ? = dequantize(x, s, zu)
  q ? = quantize(d, s, zi)
  t ? = transpose(q) perm=[0,3,1,2]
  e ? = dequantize(t, s, zi)
  wd ? = dequantize(w, s, zw)
  c ? = conv(e, wd) kernel_shape=[1,1]
  y ? = quantize(c, s, zi)
  a ? = dequantize(v, s, zu)
  b ? = quantize(a, r, zi)
  f ? = dequantize(b, r, zi)
  h ? = conv(f, wd) kernel_shape=[1,1]
  z ? = quantize(h, s, zi)
  i ? = dequantize(v, s, zo)
  j ? = quantize(i, s, zi)
  k ? = dequantize(j, s, zi)
  l ? = conv(k, wd) kernel_shape=[1,1]
  u ? = quantize(l, s, zi)
  output y
  output u
  output z
}
#= graph g {
#=   input x u8[1,4,4,2]
#=   input v u8[1,2,3,3]
#=   const w i8[2,2,1,1] = {1, 2, 3, 4}
#=   const bias.i32 i32[2] = {0, 0}
#=   const w.scale f32[2] = {0x1p-1, 0x1p-1}
#=   const bias.i32_29 i32[2] = {0, 0}
#=   const w.scale_30 f32[2] = {0x1p-2, 0x1p-2}
#=   const bias.i32_31 i32[2] = {0, 0}
#=   const w.scale_32 f32[2] = {0x1p-1, 0x1p-1}
#=   t.bytes u8[1,2,4,4] = transpose(x) @t_17 perm=[0,3,1,2]
#=   y i8[1,2,4,4] = qconv(t.bytes, w, bias.i32, w.scale) @c to="i8" y_zp=-1 lo=-128 hi=127 kernel_shape=[1,1] x_zp=127
#=   b i8[1,2,3,3] = qrescale(v) to="i8" y_zp=-1 lo=-128 hi=127 x_zp=127 scale=0x1p+1
#=   z i8[1,2,3,3] = qconv(b, w, bias.i32_29, w.scale_30) @h to="i8" y_zp=-1 lo=-128 hi=127 kernel_shape=[1,1] x_zp=-1
#=   j i8[1,2,3,3] = qrescale(v) to="i8" y_zp=-1 lo=-128 hi=127 x_zp=120 scale=0x1p+0
#=   u i8[1,2,3,3] = qconv(j, w, bias.i32_31, w.scale_32) @l to="i8" y_zp=-1 lo=-128 hi=127 kernel_shape=[1,1] x_zp=-1
#=   output y
#=   output u
#=   output z
#= }
