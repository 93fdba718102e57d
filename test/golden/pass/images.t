# What works on an image in another shape works on the image: groups that are weighed by constants and by others'
# values, a slice and a concat of them. Not a group of which only a part is cut, nor what rows make.
# RUN: heddle opt --pass images %s
graph g {
  input x i8[1,4,2,3]
  input m i8[1,2,1,1]
  const w i8[8,4,1,1] = {-2,9,8,-5,2,6,9,-7,-9,6,-1,8,-2,-3,6,8,8,6,3,-5,-2,-5,7,3,-9,-7,-4,9,-8,0,-9,-1}
  const b i32[8] = {0,0,0,0,0,0,0,0}
  const s f32[8] = {0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1}
  const v i8[1,2,4,1,3] = {6,3,4,3,9,5,-5,2,-6,-8,-5,6,-3,-1,4,0,4,7,3,9,2,8,9,4}
  const u i8[4,1,1] = {9,-2,1,-9}
  const split i64[5] = {1,2,4,2,3}
  const back i64[4] = {1,8,2,3}
  const five i64[5] = {1,2,1,1,1}
  const zero i64[1] = {0}
  const one i64[1] = {1}
  const two i64[1] = {2}
  const three i64[1] = {3}
  c ? = qconv(x, w, b, s) kernel_shape=[1,1]
  t ? = reshape(c, split)
  f ? = qmul(t, v) scale=0.1
  f2 ? = qadd(f, u) a_zp=1
  k ? = reshape(m, five)
  k0 ? = qrescale(k)
  h ? = qmul(f2, k0) scale=0.2
  p ? = slice(h, zero, one, one)
  q ? = slice(h, one, two, one)
  r ? = qadd(p, q)
  rr ? = concat(r, p) axis=1
  y ? = reshape(rr, back)
  z ? = qrescale(y)
  half ? = slice(t, zero, two, two)
  hh ? = qrescale(half)
  output z
  output hh
}
#= graph g {
#=   input x i8[1,4,2,3]
#=   input m i8[1,2,1,1]
#=   const w i8[8,4,1,1] = #561e690e
#=   const b i32[8] = {0, 0, 0, 0, 0, 0, 0, 0}
#=   const s f32[8] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const split i64[5] = {1, 2, 4, 2, 3}
#=   const five i64[5] = {1, 2, 1, 1, 1}
#=   const zero i64[1] = {0}
#=   const two i64[1] = {2}
#=   const v.image i8[1,8,1,3] = #b1168dc9
#=   const u.image i8[1,8,1,1] = {9, -2, 1, -9, 9, -2, 1, -9}
#=   const k0.copies.moves i8[8,2,1,1] = {1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1}
#=   const k0.copies.bias i32[8] = {0, 0, 0, 0, 0, 0, 0, 0}
#=   const k0.copies.one f32[1] = {0x1p+0}
#=   const image.from i64[1] = {0}
#=   const image.to i64[1] = {4}
#=   const image.axis i64[1] = {1}
#=   const image.from_43 i64[1] = {4}
#=   const image.to_44 i64[1] = {8}
#=   const image.axis_45 i64[1] = {1}
#=   c i8[1,8,2,3] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   t i8[1,2,4,2,3] = reshape(c, split)
#=   k i8[1,2,1,1,1] = reshape(m, five)
#=   k0 i8[1,2,1,1,1] = qrescale(k)
#=   f.image i8[1,8,2,3] = qmul(c, v.image) @f scale=0x1.99999ap-4
#=   f2.image i8[1,8,2,3] = qadd(f.image, u.image) @f2 a_zp=1
#=   k0.image i8[1,2,1,1] = reshape(k0) shape=[1,2,1,1]
#=   k0.copies i8[1,8,1,1] = qconv(k0.image, k0.copies.moves, k0.copies.bias, k0.copies.one) to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   h.image i8[1,8,2,3] = qmul(f2.image, k0.copies) @h scale=0x1.99999ap-3
#=   p.image i8[1,4,2,3] = slice(h.image, image.from, image.to, image.axis) @p
#=   q.image i8[1,4,2,3] = slice(h.image, image.from_43, image.to_44, image.axis_45) @q
#=   r.image i8[1,4,2,3] = qadd(p.image, q.image) @r
#=   rr.image i8[1,8,2,3] = concat(r.image, p.image) @rr axis=1
#=   z i8[1,8,2,3] = qrescale(rr.image)
#=   half i8[1,2,2,2,3] = slice(t, zero, two, two)
#=   hh i8[1,2,2,2,3] = qrescale(half)
#=   output z
#=   output hh
#= }
