# A pad of zero on each side is none; one that crops a side as it fills another is one.
# RUN: heddle opt --pass fold %s
graph g {
  input x f32[1,2,4]
  const none i64[6] = {0,0,0,0,0,0}
  const moves i64[6] = {0,0,1,0,0,-1}
  a ? = pad(x, none) mode="constant"
  b ? = pad(x, none) mode="reflect"
  c ? = pad(x, moves) mode="constant"
  const ends i64[6] = {0,0,0,0,0,-1}
  f ? = pad(x, ends) mode="constant"
  h ? = neg(f)
  d ? = add(a, b)
  e ? = add(c, d)
  output e
  output h
}
#= graph g {
#=   input x f32[1,2,4]
#=   const moves i64[6] = {0, 0, 1, 0, 0, -1}
#=   const ends i64[6] = {0, 0, 0, 0, 0, -1}
#=   c f32[1,2,4] = pad(x, moves) mode="constant"
#=   f f32[1,2,3] = pad(x, ends) mode="constant"
#=   h f32[1,2,3] = neg(f)
#=   d f32[1,2,4] = add(x, x)
#=   e f32[1,2,4] = add(c, d)
#=   output e
#=   output h
#= }
