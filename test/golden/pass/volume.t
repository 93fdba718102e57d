# Images, runs of two of them behind an image of zero points, and a pool of images. Not where weights are computed.
# RUN: heddle opt --pass volume %s
graph g {
  input x i8[1,2,3,4,4]
  const s f32[] = {0.5}
  const z i8[] = {3}
  const wi i8[2,2,2,1,1] = {1,2,3,4,5,6,7,8}
  const v f32[] = {2.0}
  d ? = dequantize(x, s, z)
  w ? = dequantize(wi, s, z)
  c ? = conv(d, w) pads=[1,0,0,0,0,0]
  q ? = quantize(c, v, z)
  e ? = dequantize(q, v, z)
  p ? = maxpool(e) kernel_shape=[1,2,2] strides=[1,2,2]
  r ? = quantize(p, v, z)
  f ? = conv(e, d)
  output r
  output f
}
#= graph g {
#=   input x i8[1,2,3,4,4]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {3}
#=   const v f32[] = {0x1p+1}
#=   const wi.flat i8[2,4,1,1] = {1, 3, 2, 4, 5, 7, 6, 8}
#=   const beyond i8[1,2,4,4] = #1ebb1565
#=   const depths i64[6] = {3, 0, 0, 1, 1, 2}
#=   d f32[1,2,3,4,4] = dequantize(x, s, z)
#=   x.images i8[1,3,2,4,4] = transpose(x) perm=[0,2,1,3,4]
#=   x.images_16 i8[3,2,4,4] = reshape(x.images) shape=[3,2,4,4]
#=   x.images_16_18 i8[4,2,4,4] = concat(x.images_16, beyond) axis=0
#=   x.images_16_18_20 i8[6,2,4,4] = gather(x.images_16_18, depths) axis=0
#=   x.images_16_18_20_21 i8[3,4,4,4] = reshape(x.images_16_18_20) shape=[3,4,4,4]
#=   x.images_16_18_20_21_22 f32[3,4,4,4] = dequantize(x.images_16_18_20_21, s, z) @x.images_16_18_20_21_14
#=   wi.flat_14 f32[2,4,1,1] = dequantize(wi.flat, s, z) @wi.flat
#=   c.images f32[3,2,4,4] = conv(x.images_16_18_20_21_22, wi.flat_14) @c group=1 kernel_shape=[1,1] strides=[1,1] dilations=[1,1] pads=[0,0,0,0]
#=   q.images i8[3,2,4,4] = quantize(c.images, v, z) @q
#=   q.images_26 i8[1,3,2,4,4] = reshape(q.images) shape=[1,3,2,4,4]
#=   q i8[1,2,3,4,4] = transpose(q.images_26) @q_20 perm=[0,2,1,3,4]
#=   e f32[1,2,3,4,4] = dequantize(q, v, z)
#=   f f32[1,1,1,1,1] = conv(e, d) kernel_shape=[3,4,4]
#=   e.images f32[3,2,4,4] = dequantize(q.images, v, z) @e_21
#=   p.images f32[3,2,2,2] = maxpool(e.images) @p kernel_shape=[2,2] strides=[2,2] dilations=[1,1] pads=[0,0,0,0]
#=   r.images i8[3,2,2,2] = quantize(p.images, v, z) @r
#=   r.images_31 i8[1,3,2,2,2] = reshape(r.images) shape=[1,3,2,2,2]
#=   r i8[1,2,3,2,2] = transpose(r.images_31) @r_27 perm=[0,2,1,3,4]
#=   output r
#=   output f
#= }
