# A factor for each channel of rows is read again for each row, as rows of rank 2, or 3 where blocks of rows have
# their own; the one number of a row is copied for its channels by a product, that of an image by a convolution. The
# mean of all rows of a sample is that of an image of their channels.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[6,4]
  input u i8[1,2,3,4]
  input f i8[1,1,1,4]
  input blocks i8[1,2,1,4]
  input each i8[1,2,3,1]
  input all i8[1,1,1,1]
  input view i8[2,3,1]
  const middle i64[2] = {1, 2}
  const s f32[] = {0.25}
  const z i8[] = {0}
  const w i8[4,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
  const b i32[4] = {0, 0, 0, 0}
  const one f32[4] = {1, 1, 1, 1}
  p ? = qgemm(x, w, b, one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
  q ? = reshape(p) shape=[1,2,3,4]
  a ? = dequantize(q, s, z)
  c ? = dequantize(f, s, z)
  d ? = mul(a, c)
  y ? = quantize(d, s, z)
  e ? = dequantize(u, s, z)
  h ? = mul(e, c)
  v ? = quantize(h, s, z)
  db ? = dequantize(blocks, s, z)
  mb ? = mul(a, db)
  yb ? = quantize(mb, s, z)
  de ? = dequantize(each, s, z)
  me ? = div(a, de)
  ye ? = quantize(me, s, z)
  da ? = dequantize(all, s, z)
  ma ? = add(e, da)
  ya ? = quantize(ma, s, z)
  r ? = reshape(u) shape=[2,3,4]
  dr ? = dequantize(r, s, z)
  dv ? = dequantize(view, s, z)
  mv ? = sub(dr, dv)
  yv ? = quantize(mv, s, z)
  n ? = reducemean(a, middle) keepdims=0
  yn ? = quantize(n, s, z)
  output y
  output v
  output yb
  output ye
  output ya
  output yv
  output yn
}
#= graph g {
#=   input x i8[6,4]
#=   input u i8[1,2,3,4]
#=   input f i8[1,1,1,4]
#=   input blocks i8[1,2,1,4]
#=   input each i8[1,2,3,1]
#=   input all i8[1,1,1,1]
#=   input view i8[2,3,1]
#=   const w i8[4,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
#=   const b i32[4] = {0, 0, 0, 0}
#=   const one f32[4] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const ones i8[2,1,1,1] = {1, 1}
#=   const zeros i32[2] = {0, 0}
#=   const one_43 f32[1] = {0x1p+0}
#=   const ones_49 i8[4,1] = {1, 1, 1, 1}
#=   const zeros_50 i32[4] = {0, 0, 0, 0}
#=   const one_51 f32[1] = {0x1p+0}
#=   const ones_54 i8[2,1,1,1] = {1, 1}
#=   const zeros_55 i32[2] = {0, 0}
#=   const one_56 f32[1] = {0x1p+0}
#=   const ones_59 i8[4,1] = {1, 1, 1, 1}
#=   const zeros_60 i32[4] = {0, 0, 0, 0}
#=   const one_61 f32[1] = {0x1p+0}
#=   p i8[6,4] = qgemm(x, w, b, one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   q i8[1,2,3,4] = reshape(p) shape=[1,2,3,4]
#=   r i8[2,3,4] = reshape(u) shape=[2,3,4]
#=   f.block i8[1,4] = reshape(f) shape=[1,4]
#=   q.blocks i8[6,4] = reshape(q) shape=[6,4]
#=   y.blocks i8[6,4] = qmul(q.blocks, f.block) @d to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-2
#=   y i8[1,2,3,4] = reshape(y.blocks) shape=[1,2,3,4]
#=   f.copies i8[1,2,1,4] = qconv(f, ones, zeros, one_43) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   v i8[1,2,3,4] = qmul(u, f.copies) @h to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-2
#=   blocks.block i8[2,1,4] = reshape(blocks) shape=[2,1,4]
#=   q.blocks_46 i8[2,3,4] = reshape(q) shape=[2,3,4]
#=   yb.blocks i8[2,3,4] = qmul(q.blocks_46, blocks.block) @mb to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-2
#=   yb i8[1,2,3,4] = reshape(yb.blocks) shape=[1,2,3,4]
#=   each.column i8[6,1] = reshape(each) shape=[6,1]
#=   each.column.copies i8[6,4] = qgemm(each.column, ones_49, zeros_50, one_51) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   each.column.copies.wide i8[1,2,3,4] = reshape(each.column.copies) shape=[1,2,3,4]
#=   ye i8[1,2,3,4] = qdiv(q, each.column.copies.wide) @me to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p+2
#=   all.copies i8[1,2,1,1] = qconv(all, ones_54, zeros_55, one_56) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   ya i8[1,2,3,4] = qadd(u, all.copies) @ma to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 a_scale=0x1p+0 b_scale=0x1p+0
#=   view.column i8[6,1] = reshape(view) shape=[6,1]
#=   view.column.copies i8[6,4] = qgemm(view.column, ones_59, zeros_60, one_61) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   view.column.copies.wide i8[2,3,4] = reshape(view.column.copies) shape=[2,3,4]
#=   yv i8[2,3,4] = qadd(r, view.column.copies.wide) @mv to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 a_scale=0x1p+0 b_scale=-0x1p+0
#=   n.turned.q i8[1,4,2,3] = transpose(q) @n_45 perm=[0,3,1,2]
#=   n.window.q i8[1,4,1,1] = qmean(n.turned.q) @n to="i8" y_zp=0 lo=-128 hi=127 x_zp=0 x_scale=0x1p-2 scale=0x1.555556p-1
#=   yn i8[1,4] = reshape(n.window.q) @n_47 shape=[1,4]
#=   output y
#=   output v
#=   output yb
#=   output ye
#=   output ya
#=   output yv
#=   output yn
#= }
