# Functions of one byte go in front of a reshape, behind the layer that made their operand; not where
# something else reads the reshape.
# RUN: heddle opt --pass simplify,dce %s
graph g {
  input x i8[6,4]
  input table i8[256]
  const one i64[3] = {2,3,4}
  t ? = reshape(x, one)
  a ? = qtable(t, table)
  u ? = reshape(x) shape=[3,8]
  b ? = qrescale(u) x_zp=3 y_zp=1 scale=0.5 lo=-128 hi=127 to="i8"
  v ? = reshape(x) shape=[24]
  c ? = qtable(v, table)
  output a
  output b
  output c
  output v
}
#= graph g {
#=   input x i8[6,4]
#=   input table i8[256]
#=   v i8[24] = reshape(x) shape=[24]
#=   c i8[24] = qtable(v, table)
#=   a_9 i8[6,4] = qtable(x, table) @a
#=   a i8[2,3,4] = reshape(a_9) @a_6 shape=[2,3,4]
#=   b_11 i8[6,4] = qrescale(x) @b x_zp=3 y_zp=1 scale=0x1p-1 lo=-128 hi=127 to="i8"
#=   b i8[3,8] = reshape(b_11) @b_8 shape=[3,8]
#=   output a
#=   output b
#=   output c
#=   output v
#= }
