# Dense layers whose rows become images: weights, bias and scales with channels last, functions between on rows. A row
# for each image, with a transpose, a row of each line of an image. Not where lines of a row are apart, nor where an
# elementwise operation reads what no image is.
# RUN: heddle opt --pass pixels %s
graph g {
  input x i8[2,5]
  input u i8[4,5]
  const w i8[24,5] = {1,-5,3,-8,-7,8,-6,2,9,-8,7,-3,-8,-7,4,4,-7,-2,-7,8,4,-8,9,-6,-2,9,-8,9,9,3,-8,-2,-8,8,-5,0,4,-5,8,-6,9,0,8,-4,-6,9,9,-3,2,-6,8,-7,9,-8,-3,6,8,4,1,5,9,5,2,0,-2,-4,-2,-7,9,0,7,6,1,5,0,-7,-6,7,4,-4,1,-5,6,4,-8,-7,8,9,1,1,2,6,9,5,-7,-7,-1,6,-7,-8,0,9,5,0,3,2,-9,5,2,-4,-6,6,-8,-3,0,-5,-2,3,3,6}
  const b i32[24] = {-70,-48,24,12,50,-19,-55,20,50,-19,90,16,1,84,7,-31,-52,-69,-45,-52,-31,78,-31,-87}
  const s f32[24] = {0.08,0.03,0.05,0.05,0.01,0.03,0.07,0.09,0.06,0.06,0.03,0.09,0.01,0.08,0.09,0.07,0.07,0.07,0.07,0.02,0.08,0.07,0.01,0.04}
  const v i8[12,5] = {-7,-3,5,-4,-6,1,-8,-6,-9,9,-5,8,-6,2,-9,-7,-3,3,-5,-1,2,2,6,-6,-6,6,5,6,6,0,-7,-5,-6,1,-1,6,-4,7,-9,-3,7,2,-5,8,-9,7,0,-7,-1,7,2,-4,2,-2,8,8,7,1,-2,-3}
  const d i32[12] = {-29,12,-32,-39,42,36,1,-83,-83,-19,30,-24}
  const one f32[1] = {0.02}
  const table i8[256] = {-3,2,5,2,2,-7,-2,-6,-2,6,-3,1,-3,6,-9,6,2,-7,-6,3,-3,6,-4,4,1,-7,3,5,3,-7,-4,-4,-5,-9,-5,9,5,-5,6,2,-5,8,8,-5,-9,-9,-6,7,-5,4,-3,-3,-9,-1,-3,0,7,-2,9,1,-1,8,4,-5,-8,2,5,9,7,4,7,-5,8,-5,7,7,-9,5,-4,-9,-5,-4,-5,6,-6,8,-8,1,7,7,8,6,-6,8,-8,-2,-3,-1,-8,-6,7,5,8,-9,-7,5,1,7,7,-3,-1,5,7,8,6,7,-2,7,-1,8,-3,5,-5,4,-6,3,5,1,-7,-2,4,-7,-3,0,-6,-5,2,-5,-1,-5,5,-2,-6,3,6,-4,-2,-4,4,7,3,1,4,-3,2,1,-7,2,-9,1,8,5,5,-9,3,1,7,0,7,-7,-6,-2,-6,-7,-1,-1,-8,-4,-1,-5,4,-1,3,-5,8,7,9,6,1,-7,-1,-8,-4,4,-7,-1,-9,-7,-1,-7,-2,-7,-1,-6,5,-9,1,8,4,-1,-5,-8,7,-2,-6,-4,-1,-8,-4,-3,0,0,7,-3,0,5,7,-4,-1,2,-9,-1,-8,-9,-9,7,8,-3,7,6,-2,5,-6,4,6,8,3,7,0,-3,-2,1,-3,-5,3,2}
  const k i8[2,4,1,1] = {-8,-5,-9,-7,-1,4,-4,-8}
  const m i8[2,3,1,1] = {-7,3,7,0,-2,0}
  const e i32[2] = {-8,5}
  const image i64[4] = {2,4,2,3}
  const split i64[4] = {1,4,3,4}
  const apart i64[4] = {1,3,4,4}
  a ? = qgemm(x, w, b, s) x_zp=1
  a1 ? = qtable(a, table)
  a2 ? = reshape(a1, image)
  y ? = qconv(a2, k, e, one) kernel_shape=[1,1]
  p ? = qgemm(u, v, d, one) x_zp=2
  p1 ? = reshape(p, split)
  p2 ? = qrescale(p1) scale=0.5
  p3 ? = transpose(p2) perm=[0,2,1,3]
  z ? = qmaxpool(p3) kernel_shape=[1,2]
  q ? = qgemm(u, v, d, one)
  q1 ? = reshape(q, apart)
  h ? = qconv(q1, m, e, one) kernel_shape=[1,1]
  o ? = qgemm(x, w, b, s)
  o1 ? = reshape(o, image)
  o2 ? = qadd(o1, o1)
  output y
  output z
  output h
  output o2
}
#= graph g {
#=   input x i8[2,5]
#=   input u i8[4,5]
#=   const w i8[24,5] = #cc9d9a99
#=   const b i32[24] = #1cf0278b
#=   const s f32[24] = #c2078975
#=   const v i8[12,5] = #c50fe74e
#=   const d i32[12] = {-29, 12, -32, -39, 42, 36, 1, -83, -83, -19, 30, -24}
#=   const one f32[1] = {0x1.47ae14p-6}
#=   const table i8[256] = #ff4d1e68
#=   const k i8[2,4,1,1] = {-8, -5, -9, -7, -1, 4, -4, -8}
#=   const m i8[2,3,1,1] = {-7, 3, 7, 0, -2, 0}
#=   const e i32[2] = {-8, 5}
#=   const image i64[4] = {2, 4, 2, 3}
#=   const apart i64[4] = {1, 3, 4, 4}
#=   const w.pixels i8[24,5] = #d948326f
#=   const b.pixels i32[24] = #71bb89d3
#=   const s.pixels f32[24] = #014898c1
#=   const v.pixels i8[12,5] = #400e75be
#=   const d.pixels i32[12] = {-29, 42, -83, 12, 36, -19, -32, 1, 30, -39, -83, -24}
#=   a.pixels i8[2,24] = qgemm(x, w.pixels, b.pixels, s.pixels) @a x_zp=1
#=   a1.pixels i8[2,24] = qtable(a.pixels, table) @a1
#=   a1.pixels_35 i8[2,2,3,4] = reshape(a1.pixels) shape=[2,2,3,4]
#=   a2 i8[2,4,2,3] = transpose(a1.pixels_35) @a2_18 perm=[0,3,1,2]
#=   y i8[2,2,2,3] = qconv(a2, k, e, one) kernel_shape=[1,1]
#=   p.pixels i8[4,12] = qgemm(u, v.pixels, d.pixels, one) @p x_zp=2
#=   p2.pixels i8[4,12] = qrescale(p.pixels) @p2 scale=0x1p-1
#=   p2.pixels_40 i8[1,4,4,3] = reshape(p2.pixels) shape=[1,4,4,3]
#=   p3 i8[1,3,4,4] = transpose(p2.pixels_40) @p3_22 perm=[0,3,1,2]
#=   z i8[1,3,4,3] = qmaxpool(p3) kernel_shape=[1,2]
#=   q i8[4,12] = qgemm(u, v, d, one)
#=   q1 i8[1,3,4,4] = reshape(q, apart)
#=   h i8[1,2,4,4] = qconv(q1, m, e, one) kernel_shape=[1,1]
#=   o i8[2,24] = qgemm(x, w, b, s)
#=   o1 i8[2,4,2,3] = reshape(o, image)
#=   o2 i8[2,4,2,3] = qadd(o1, o1)
#=   output y
#=   output z
#=   output h
#=   output o2
#= }
