# RUN: heddle opt --pass qdq,complete %s
graph g {
  input x i8[1,2,2,2]
  const s f32[] = {0.5}
  const z i8[] = {0}
  const w i8[2,2,1,1] = {1, 2, 3, 4}
  const b f32[2] = {1.0, -1.0}
  const ws f32[2] = {0.125, 0.25}
  const wz i8[2] = {0, 0}
  const k f32[1,2,1,1] = {2.0, -4.0}
  const slope f32[2,1,1] = {0.5, 0.25}
  d ? = dequantize(x, s, z)
  wd ? = dequantize(w, ws, wz) axis=0
  c ? = conv(d, wd, b) kernel_shape=[1,1]
  m ? = mul(c, k)
  a ? = add(m, d)
  r ? = relu(a)
  q ? = quantize(r, s, z)
  e ? = dequantize(q, s, z)
  n ? = max(e, d)
  y ? = quantize(n, s, z)
  u ? = conv(d, wd) kernel_shape=[1,1]
  g1 ? = sigmoid(u)
  h ? = mul(u, g1)
  y2 ? = quantize(h, s, z)
  t ? = add(h, r)
  y3 ? = quantize(t, s, z)
  output y
  output y2
  output y3
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   const w i8[2,2,1,1] = {1, 2, 3, 4}
#=   const w_25 i8[2,2,1,1] = {1, 2, -3, -4}
#=   const c.bias.i32 i32[2] = {16, 8}
#=   const w_25.scale f32[2] = {0x1.56191p-3, 0x1.56191p-1}
#=   const bias.i32 i32[2] = {0, 0}
#=   const w.scale_66 f32[2] = {0x1.e8db0ap-3, 0x1.e8db0ap-2}
#=   const h.table i8[256] = #e85622ef
#=   m.q i8[1,2,2,2] = qconv(x, w_25, c.bias.i32, w_25.scale) @c to="i8" y_zp=-43 lo=-128 hi=127 kernel_shape=[1,1] x_zp=0
#=   r.q i8[1,2,2,2] = qadd(m.q, x) @a to="i8" y_zp=0 lo=0 hi=127 a_zp=-43 b_zp=0 a_scale=0x1.7f244cp+0 b_scale=0x1p+0
#=   n.a.float.q i8[1,2,1,4] = reshape(r.q) @n.a shape=[1,2,1,4]
#=   n.b.float.q i8[1,2,1,4] = reshape(x) @n.b shape=[1,2,1,4]
#=   n.both.float.q i8[1,2,2,4] = concat(n.a.float.q, n.b.float.q) @n.both axis=2
#=   n.larger.float.q i8[1,2,1,4] = qmaxpool(n.both.float.q) @n kernel_shape=[2,1]
#=   n.q i8[1,2,2,2] = reshape(n.larger.float.q) @n_22 shape=[1,2,2,2]
#=   y i8[1,2,2,2] = qrescale(n.q) to="i8" y_zp=0 lo=-128 hi=127 x_zp=0 scale=0x1p+0
#=   u.q i8[1,2,2,2] = qconv(x, w, bias.i32, w.scale_66) @u to="i8" y_zp=-116 lo=-128 hi=127 kernel_shape=[1,1] x_zp=0
#=   h.q i8[1,2,2,2] = qtable(u.q, h.table) @h
#=   y2 i8[1,2,2,2] = qrescale(h.q) to="i8" y_zp=0 lo=-128 hi=127 x_zp=0 scale=0x1p+0
#=   y3 i8[1,2,2,2] = qadd(h.q, r.q) @t to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 a_scale=0x1p+0 b_scale=0x1p+0
#=   output y
#=   output y2
#=   output y3
#= }
