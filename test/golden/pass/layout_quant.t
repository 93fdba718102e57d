# Scales per channel keep their axis; a byte moves where a float would be four. A list of pads, and axes of a slice
# and of a mean without keepdims, are those of the other order.
# RUN: heddle opt --pass layout %s
graph quant {
  input x f32[1,3,4,4]
  const s f32[3] = {0.5,0.25,0.125}
  const z i8[3] = {0,1,2}
  const pads i64[8] = {0,1,1,0,0,1,1,0}
  const from i64[] = {1}
  const to i64[] = {5}
  const at i64[] = {2}
  const image i64[2] = {1,2}
  a ? = transpose(x) perm=[0,2,3,1]
  q ? = quantize(a, s, z) axis=3
  b ? = pad(q, pads)
  c ? = slice(b, from, to, at)
  d ? = dequantize(c, s, z) axis=3
  y ? = transpose(d) perm=[0,3,1,2]
  m ? = reducemean(d, image) keepdims=0
  output y
  output m
}
#= graph quant {
#=   input x f32[1,3,4,4]
#=   const s f32[3] = {0x1p-1, 0x1p-2, 0x1p-3}
#=   const z i8[3] = {0, 1, 2}
#=   const from i64[] = {1}
#=   const to i64[] = {5}
#=   const q_16 i64[8] = {0, 0, 1, 1, 0, 0, 1, 1}
#=   const b_18 i64[1] = {3}
#=   const d_20 i64[2] = {2, 3}
#=   q_15 i8[1,3,4,4] = quantize(x, s, z) @q axis=1
#=   b_17 i8[1,3,6,6] = pad(q_15, q_16) @b
#=   c_19 i8[1,3,6,4] = slice(b_17, from, to, b_18) @c
#=   y f32[1,3,6,4] = dequantize(c_19, s, z) @d axis=1
#=   m f32[1,3] = reducemean(y, d_20) keepdims=0
#=   output y
#=   output m
#= }
