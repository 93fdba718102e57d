# Constant operands of products are joined from two parts, which the load unit brings; not for one row or column.
# RUN: heddle opt --pass loaded %s --full
graph g {
  input x i8[2,4,3]
  const q i8[2,3,4] = {0,1,2,3, 4,5,6,7, 8,9,10,11, 12,13,14,15, 16,17,18,19, 20,21,22,23}
  const one i8[2,1,4] = {0,1,2,3, 4,5,6,7}
  const right i8[2,3,2] = {0,1,2,3,4,5, 6,7,8,9,10,11}
  a ? = qmatmul(q, x) scale=0x1p-4
  b ? = qmatmul(one, x) scale=0x1p-4
  c ? = qmatmul(x, right) scale=0x1p-4
  output a
  output b
  output c
}
#= graph g {
#=   input x i8[2,4,3]
#=   const one i8[2,1,4] = {0, 1, 2, 3, 4, 5, 6, 7}
#=   const q.part0 i8[2,1,4] = {0, 1, 2, 3, 12, 13, 14, 15}
#=   const q.part1 i8[2,2,4] = {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}
#=   const right.part0 i8[2,1,2] = {0, 1, 6, 7}
#=   const right.part1 i8[2,2,2] = {2, 3, 4, 5, 8, 9, 10, 11}
#=   q.loaded i8[2,3,4] = concat(q.part0, q.part1) axis=1
#=   a i8[2,3,3] = qmatmul(q.loaded, x) scale=0x1p-4
#=   b i8[2,1,3] = qmatmul(one, x) scale=0x1p-4
#=   right.loaded i8[2,3,2] = concat(right.part0, right.part1) axis=1
#=   c i8[2,4,2] = qmatmul(x, right.loaded) scale=0x1p-4
#=   output a
#=   output b
#=   output c
#= }
