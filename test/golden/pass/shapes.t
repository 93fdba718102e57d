# RUN: heddle opt --pass shapes %s
# A shape that is known; one of an operand that only the run knows, in a reshape of three forms; and the shape of
# an elementwise result.
graph g {
  input x f32[2,3,4]
  input flags f32[2,3]
  const zero i64[] = {0}
  const one i64[] = {1}
  const axis i64[1] = {0}
  const six i64[1] = {6}
  const two i64[1] = {2}
  const minus i64[1] = {-1}
  s ? = shape(x)
  d ? = gather(s, zero)
  du ? = unsqueeze(d, axis)
  l ? = concat(du, minus) axis=0
  y ? = reshape(x, l)
  at ? = nonzero(flags)
  e ? = neg(at)
  f ? = abs(e)
  fs ? = shape(f)
  f0 ? = gather(fs, zero)
  f0u ? = unsqueeze(f0, axis)
  f1 ? = gather(fs, one)
  f1u ? = unsqueeze(f1, axis)
  kept ? = concat(f0u, f1u) axis=0
  z ? = reshape(at, kept)
  front ? = concat(two, f1u) axis=0
  v ? = reshape(at, front)
  swapped ? = concat(f1u, f0u) axis=0
  w ? = reshape(at, swapped)
  turned ? = concat(f1u, two) axis=0
  u ? = reshape(at, turned)
  output y
  output z
  output v
  output w
  output u
}
#= graph g {
#=   input x f32[2,3,4]
#=   input flags f32[2,3]
#=   const zero i64[] = {0}
#=   const one i64[] = {1}
#=   const axis i64[1] = {0}
#=   const l.known i64[2] = {2, -1}
#=   const kept.known i64[2] = {0, 0}
#=   const front.known i64[2] = {2, 0}
#=   const turned.known i64[2] = {-1, 2}
#=   y f32[2,12] = reshape(x, l.known)
#=   at ? = nonzero(flags)
#=   fs ? = shape(at)
#=   f0 ? = gather(fs, zero)
#=   f0u ? = unsqueeze(f0, axis)
#=   f1 ? = gather(fs, one)
#=   f1u ? = unsqueeze(f1, axis)
#=   z ? = reshape(at, kept.known)
#=   v ? = reshape(at, front.known)
#=   swapped ? = concat(f1u, f0u) axis=0
#=   w ? = reshape(at, swapped)
#=   u ? = reshape(at, turned.known)
#=   output y
#=   output z
#=   output v
#=   output w
#=   output u
#= }
