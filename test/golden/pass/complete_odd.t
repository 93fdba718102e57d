# RUN: heddle opt --pass qdq,complete %s
graph g {
  input x i8[1,2,2,2]
  input vs f32[]
  const s f32[] = {0.5}
  const far f32[] = {1e38}
  const z i8[] = {0}
  const k i8[1,2,2,2] = {1, 2, 3, 4, 5, 6, 7, 8}
  const w i8[2,2,1,1] = {1, 2, 3, 4}
  const b8 i8[2] = {1, 2}
  const v f32[2] = {1.0, 1.0}
  d ? = dequantize(x, s, z)
  run ? = dequantize(k, vs, z)
  a ? = add(d, run)
  y ? = quantize(a, s, z)
  wd ? = dequantize(w, s, z)
  bd ? = dequantize(b8, s, z)
  c ? = conv(d, wd, bd) kernel_shape=[1,1]
  n ? = tanh(c)
  y2 ? = quantize(n, s, z)
  d2 ? = dequantize(x, far, z)
  e ? = instancenorm(d2, v, v)
  y3 ? = quantize(e, s, z)
  output y
  output y2
  output y3
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   input vs f32[]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {0}
#=   const k i8[1,2,2,2] = {1, 2, 3, 4, 5, 6, 7, 8}
#=   const w i8[2,2,1,1] = {1, 2, 3, 4}
#=   const b8 i8[2] = {1, 2}
#=   const e.affine.weight.i8 i8[2,1,1,1] = {127, 127}
#=   const e.affine.bias.i32.float.i32 i32[2] = {8096, 8096}
#=   const e.affine.weight.i8.scale_51 f32[2] = {0x1.03071p-12, 0x1.03071p-12}
#=   const norm.ones.steps f32[4] = {0x1.fdfffep+5, 0x1.fdfffep+5, 0x1.fdfffep+5, 0x1.fdfffep+5}
#=   const norm.zeros.steps f32[4] = {0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0}
#=   d f32[1,2,2,2] = dequantize(x, s, z)
#=   run f32[1,2,2,2] = dequantize(k, vs, z)
#=   a f32[1,2,2,2] = add(d, run)
#=   y i8[1,2,2,2] = quantize(a, s, z)
#=   wd f32[2,2,1,1] = dequantize(w, s, z)
#=   bd f32[2] = dequantize(b8, s, z)
#=   c f32[1,2,2,2] = conv(d, wd, bd) kernel_shape=[1,1]
#=   n f32[1,2,2,2] = tanh(c)
#=   y2 i8[1,2,2,2] = quantize(n, s, z)
#=   e.rows.q i8[1,2,4] = reshape(x) @e.rows shape=[1,2,4]
#=   e.norm.q i8[1,2,4] = qlayernorm(e.rows.q, norm.ones.steps, norm.zeros.steps) @e to="i8" y_zp=-1 lo=-128 hi=127 epsilon=0x0p+0
#=   e.image.q i8[1,2,2,2] = reshape(e.norm.q) @e.image shape=[1,2,2,2]
#=   y3 i8[1,2,2,2] = qconv(e.image.q, e.affine.weight.i8, e.affine.bias.i32.float.i32, e.affine.weight.i8.scale_51) @e.affine to="i8" y_zp=0 lo=-128 hi=127 kernel_shape=[1,1] group=2 x_zp=-1
#=   output y
#=   output y2
#=   output y3
#= }
