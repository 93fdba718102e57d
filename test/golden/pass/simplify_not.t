# What looks like nothing and is not: it broadcasts, narrows, turns around, or is read as a variable.
# RUN: heddle opt --pass simplify %s
graph g {
  input x f32[3]
  input w f32[2,3]
  variable v f32[3] = {0.0, 0.0, 0.0}
  const ones f32[2,3] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}
  const s i64[1] = {-1}
  const e i64[1] = {-9}
  const ax i64[1] = {0}
  a ? = mul(x, ones)
  b ? = cast(x) to="i8"
  c ? = cast(b) to="f32"
  d ? = slice(x, s, e, ax, s)
  f ? = transpose(w) perm=[1,0]
  g ? = identity(v)
  h ? = assign(v, x) after(g)
  output a
  output c
  output d
  output f
  output g
  output h
}
#= graph g {
#=   input x f32[3]
#=   input w f32[2,3]
#=   variable v f32[3] = {0x0p+0, 0x0p+0, 0x0p+0}
#=   const ones f32[2,3] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const s i64[1] = {-1}
#=   const e i64[1] = {-9}
#=   const ax i64[1] = {0}
#=   a f32[2,3] = mul(x, ones)
#=   b i8[3] = cast(x) to="i8"
#=   c f32[3] = cast(b) to="f32"
#=   d f32[3] = slice(x, s, e, ax, s)
#=   f f32[3,2] = transpose(w) perm=[1,0]
#=   g f32[3] = identity(v)
#=   h f32[3] = assign(v, x) after(g)
#=   output a
#=   output c
#=   output d
#=   output f
#=   output g
#=   output h
#= }
