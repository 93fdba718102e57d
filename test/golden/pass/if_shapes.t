# RUN: heddle opt --pass legalize %s
# The shape of a result decides, and then that of the branch: rounds of fold and shapes. The branch
# that does not fit is gone. One whose results had no common shape gives its own.
graph g {
  input x f32[2,3]
  const one i64[1] = {1}
  const three i64[1] = {3}
  e ? = exp(x)
  d ? = shape(e)
  n ? = gather(d, one) axis=0
  is ? = equal(n, three)
  y ? = if(is, x) then=graph a {
    input x f32[2,3]
    const list i64[1] = {-1}
    f ? = reshape(x, list)
    output f
  } else=graph b {
    input x f32[2,3]
    f ? = relu(x)
    output f
  }
  r ? = shape(y)
  k ? = shape(r)
  is1 ? = equal(k, one)
  w ? = if(is1, y) then=graph a {
    input y ?
    f ? = relu(y)
    output f
  } else=graph b {
    input y ?
    f ? = neg(y)
    output f
  }
  output w
}
#= graph g {
#=   input x f32[2,3]
#=   const list i64[1] = {-1}
#=   f f32[6] = reshape(x, list)
#=   w f32[6] = relu(f) @f_11
#=   output w
#= }
