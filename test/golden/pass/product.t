# RUN: heddle opt --pass norm %s
graph g {
  input a f32[2,3,2,4]
  input b f32[2,5,2,4]
  input x f32[2,3,2]
  const w f32[2,2] = {1.0, 2.0, -1.0, 0.5}
  const w8 i8[3,2] = {1, -2, 3, 4, -5, 6}
  const s f32[3] = {0.5, 0.25, 2.0}
  const z i8[3] = {0, 0, 0}
  scores ? = einsum(a, b) equation="bihd,bjhd->bhij"
  left ? = einsum(w, x) equation="od,bnd->bno"
  sums ? = einsum(x, w) equation="bnd,do->bn"
  three ? = einsum(x, w, w) equation="bnd,do,op->bnp"
  trace ? = einsum(w) equation="ii->"
  f ? = dequantize(w8, s, z) axis=0
  y ? = transpose(x) perm=[0,2,1]
  first ? = matmul(f, y)
  both ? = matmul(x, w)
  output scores
  output left
  output sums
  output three
  output trace
  output first
  output both
}
#= graph g {
#=   input a f32[2,3,2,4]
#=   input b f32[2,5,2,4]
#=   input x f32[2,3,2]
#=   const w f32[2,2] = {0x1p+0, 0x1p+1, -0x1p+0, 0x1p-1}
#=   const w8 i8[3,2] = {1, -2, 3, 4, -5, 6}
#=   const s f32[3] = {0x1p-1, 0x1p-2, 0x1p+1}
#=   const z i8[3] = {0, 0, 0}
#=   sums f32[2,3] = einsum(x, w) equation="bnd,do->bn"
#=   three f32[2,3,2] = einsum(x, w, w) equation="bnd,do,op->bnp"
#=   trace f32[] = einsum(w) equation="ii->"
#=   f f32[3,2] = dequantize(w8, s, z) axis=0
#=   y f32[2,2,3] = transpose(x) perm=[0,2,1]
#=   both f32[2,3,2] = matmul(x, w)
#=   scores_16 f32[2,2,3,4] = transpose(a) @scores_9 perm=[0,2,1,3]
#=   scores_17 f32[2,2,4,5] = transpose(b) @scores_10 perm=[0,2,3,1]
#=   scores f32[2,2,3,5] = matmul(scores_16, scores_17) @scores_11
#=   left_19 f32[6,2] = reshape(x) @left_12 shape=[6,2]
#=   left_20 f32[2,2] = transpose(w) @left_13 perm=[1,0]
#=   left_21 f32[6,2] = matmul(left_19, left_20) @left
#=   left f32[2,3,2] = reshape(left_21) @left_14 shape=[2,3,2]
#=   first_23 f32[2,3,2] = transpose(y) @first_16 perm=[0,2,1]
#=   first_24 f32[2,3] = transpose(f) @first_17 perm=[1,0]
#=   first_25 f32[2,3,3] = matmul(first_23, first_24) @first
#=   first f32[2,3,3] = transpose(first_25) @first_18 perm=[0,2,1]
#=   output scores
#=   output left
#=   output sums
#=   output three
#=   output trace
#=   output first
#=   output both
#= }
