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
#=   const wi.rows i8[2,2,2,1] = {1, 2, 3, 4, 5, 6, 7, 8}
#=   d f32[1,2,3,4,4] = dequantize(x, s, z)
#=   d.images f32[1,2,3,16] = reshape(d) shape=[1,2,3,16]
#=   wi.rows_14 f32[2,2,2,1] = dequantize(wi.rows, s, z) @wi.rows
#=   c.images f32[1,2,3,16] = conv(d.images, wi.rows_14) @c group=1 kernel_shape=[2,1] strides=[1,1] dilations=[1,1] pads=[1,0,0,0]
#=   c f32[1,2,3,4,4] = reshape(c.images) @c_11 shape=[1,2,3,4,4]
#=   q i8[1,2,3,4,4] = quantize(c, v, z)
#=   e f32[1,2,3,4,4] = dequantize(q, v, z)
#=   f f32[1,1,1,1,1] = conv(e, d) kernel_shape=[3,4,4]
#=   q.images i8[1,3,2,4,4] = transpose(q) perm=[0,2,1,3,4]
#=   q.images_18 i8[3,2,4,4] = reshape(q.images) shape=[3,2,4,4]
#=   e.images f32[3,2,4,4] = dequantize(q.images_18, v, z) @e_14
#=   p.images f32[3,2,2,2] = maxpool(e.images) @p kernel_shape=[2,2] strides=[2,2] dilations=[1,1] pads=[0,0,0,0]
#=   r.images i8[3,2,2,2] = quantize(p.images, v, z) @r
#=   r.images_23 i8[1,3,2,2,2] = reshape(r.images) shape=[1,3,2,2,2]
#=   r i8[1,2,3,2,2] = transpose(r.images_23) @r_20 perm=[0,2,1,3,4]
#=   output r
#=   output f
#= }
