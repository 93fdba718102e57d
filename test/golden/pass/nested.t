# Concats take what others made of the same operands; axes may be written in two ways.
# RUN: heddle opt --pass cse,dce %s
graph g {
  input a f32[1,2,4]
  input b f32[1,3,4]
  input c f32[1,1,4]
  input d f32[1,2,4]
  ab ? = concat(a, b) axis=1
  cd ? = concat(c, d) axis=-2
  abcd ? = concat(a, b, c, d) axis=1
  abc ? = concat(a, b, c) axis=1
  dabc ? = concat(d, a, b, c) axis=1
  ba ? = concat(b, a, c) axis=1
  twice ? = concat(a, b, a, b) axis=1
  wide ? = concat(a, d) axis=2
  across ? = concat(a, d, a) axis=1
  input x f32[1,4,4]
  p ?, q ? = split(x) axis=1
  r ? = relu(q)
  pqr ? = concat(p, q, r) axis=1
  pq ? = concat(p, q) axis=1
  pr ? = concat(p, r, q) axis=1
  output pqr
  output pq
  output pr
  output ab
  output cd
  output abcd
  output abc
  output dabc
  output ba
  output twice
  output wide
  output across
}
#= graph g {
#=   input a f32[1,2,4]
#=   input b f32[1,3,4]
#=   input c f32[1,1,4]
#=   input d f32[1,2,4]
#=   input x f32[1,4,4]
#=   ab f32[1,5,4] = concat(a, b) axis=1
#=   cd f32[1,3,4] = concat(c, d) axis=-2
#=   abcd f32[1,8,4] = concat(ab, cd) axis=1
#=   abc f32[1,6,4] = concat(ab, c) axis=1
#=   dabc f32[1,8,4] = concat(d, abc) axis=1
#=   ba f32[1,6,4] = concat(b, a, c) axis=1
#=   twice f32[1,10,4] = concat(ab, ab) axis=1
#=   wide f32[1,2,8] = concat(a, d) axis=2
#=   across f32[1,6,4] = concat(a, d, a) axis=1
#=   p f32[1,2,4], q f32[1,2,4] = split(x) axis=1
#=   r f32[1,2,4] = relu(q)
#=   pqr f32[1,6,4] = concat(x, r) axis=1
#=   pq f32[1,4,4] = concat(x) axis=1
#=   pr f32[1,6,4] = concat(p, r, q) axis=1
#=   output pqr
#=   output pq
#=   output pr
#=   output ab
#=   output cd
#=   output abcd
#=   output abc
#=   output dabc
#=   output ba
#=   output twice
#=   output wide
#=   output across
#= }
