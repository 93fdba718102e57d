# Channel 1 of 3 is read by weights of 0 only, behind a depthwise convolution, a pool, a sum, and a reshape in front of
# a product: it goes everywhere. Not where a result, a read channel or another operation wants it.
# RUN: heddle opt --pass shrink --full %s
graph g {
  input x i8[1,2,2,2]
  const w i8[3,2,1,1] = {1,2,3,4,5,6}
  const b i32[3] = {10, -20, 30}
  const s f32[3] = {0.5, 0.25, 0.125}
  const d i8[3,1,1,1] = {7, 8, 9}
  const v i8[2,3,1,1] = {1, 0, 3, 4, 0, 6}
  const c i32[2] = {1, 2}
  const o f32[2] = {0.5, 0.25}
  const m i8[2,12] = {1,1,1,1,0,0,0,0,2,2,2,2,3,3,3,3,0,0,0,0,4,4,4,4}
  const u i8[2,3,1,1] = {1, 0, 3, 4, 5, 6}
  a ? = qconv(x, w, b, s) x_zp=2 kernel_shape=[1,1]
  e ? = qconv(a, d, b, s) kernel_shape=[1,1] group=3
  f ? = qadd(a, e) a_scale=0.5 b_scale=0.5
  p ? = qmaxpool(f) kernel_shape=[1,1]
  y ? = qconv(p, v, c, o) kernel_shape=[1,1]
  r ? = reshape(p) shape=[1,12]
  z ? = qgemm(r, m, c, o)
  a2 ? = qconv(x, w, b, s) kernel_shape=[1,1]
  y2 ? = qconv(a2, u, c, o) kernel_shape=[1,1]
  a3 ? = qconv(x, w, b, s) kernel_shape=[1,1] pads=[0,0,1,0]
  y3 ? = qconv(a3, v, c, o) kernel_shape=[1,1]
  t3 ? = transpose(a3) perm=[0,1,3,2]
  a4 ? = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=1
  y4 ? = qconv(a4, v, c, o) kernel_shape=[1,1]
  output y
  output z
  output y2
  output y3
  output t3
  output y4
  output a4
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   const w i8[3,2,1,1] = {1, 2, 3, 4, 5, 6}
#=   const b i32[3] = {10, -20, 30}
#=   const s f32[3] = {0x1p-1, 0x1p-2, 0x1p-3}
#=   const v i8[2,3,1,1] = {1, 0, 3, 4, 0, 6}
#=   const c i32[2] = {1, 2}
#=   const o f32[2] = {0x1p-1, 0x1p-2}
#=   const u i8[2,3,1,1] = {1, 0, 3, 4, 5, 6}
#=   const w.fewer i8[2,2,1,1] = {1, 2, 5, 6}
#=   const b.fewer i32[2] = {10, 30}
#=   const s.fewer f32[2] = {0x1p-1, 0x1p-3}
#=   const d.fewer i8[2,1,1,1] = {7, 9}
#=   const b.fewer_33 i32[2] = {10, 30}
#=   const s.fewer_34 f32[2] = {0x1p-1, 0x1p-3}
#=   const v.fewer i8[2,2,1,1] = {1, 3, 4, 6}
#=   const m.fewer i8[2,8] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}
#=   a.fewer i8[1,2,2,2] = qconv(x, w.fewer, b.fewer, s.fewer) @a x_zp=2 kernel_shape=[1,1]
#=   e.fewer i8[1,2,2,2] = qconv(a.fewer, d.fewer, b.fewer_33, s.fewer_34) @e kernel_shape=[1,1] group=2
#=   f.fewer i8[1,2,2,2] = qadd(a.fewer, e.fewer) @f a_scale=0x1p-1 b_scale=0x1p-1
#=   p.fewer i8[1,2,2,2] = qmaxpool(f.fewer) @p kernel_shape=[1,1]
#=   y i8[1,2,2,2] = qconv(p.fewer, v.fewer, c, o) kernel_shape=[1,1]
#=   r.fewer i8[1,8] = reshape(p.fewer) @r shape=[1,8]
#=   z i8[1,2] = qgemm(r.fewer, m.fewer, c, o)
#=   a2 i8[1,3,2,2] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   y2 i8[1,2,2,2] = qconv(a2, u, c, o) kernel_shape=[1,1]
#=   a3 i8[1,3,3,2] = qconv(x, w, b, s) kernel_shape=[1,1] pads=[0,0,1,0]
#=   y3 i8[1,2,3,2] = qconv(a3, v, c, o) kernel_shape=[1,1]
#=   t3 i8[1,3,2,3] = transpose(a3) perm=[0,1,3,2]
#=   a4 i8[1,3,2,2] = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=1
#=   y4 i8[1,2,2,2] = qconv(a4, v, c, o) kernel_shape=[1,1]
#=   output y
#=   output z
#=   output y2
#=   output y3
#=   output t3
#=   output y4
#=   output a4
#= }
