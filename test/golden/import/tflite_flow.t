# One branch of two by what the run says, a loop, and a branch whose condition is constant.
# RUN: heddle opt test/golden/import/models/flow.tflite
#= graph main {
#=   input x f32[2]
#=   input c bool[1]
#=   const most f32[] = {0x1.9p+6}
#=   const any.c i64[1] = {0}
#=   y f32[2] = if(c, x) then=graph graph {
#=     input x f32[2]
#=     b f32[2] = add(x, x)
#=     y f32[2] = identity(b)
#=     output y
#=   } else=graph graph {
#=     input x f32[2]
#=     b f32[2] = mul(x, x)
#=     y f32[2] = identity(b)
#=     output y
#=   }
#=   l bool[2] = less(y, most)
#=   any u8[2] = cast(l) to="u8"
#=   any_9 u8[] = reducemax(any, any.c) @any_3 keepdims=0
#=   any_10 bool[] = cast(any_9) @any_4 to="bool"
#=   z f32[2] = loop(-, any_10, y) body=graph graph {
#=     input iteration i64[]
#=     input condition bool[]
#=     input y f32[2]
#=     const most f32[] = {0x1.9p+6}
#=     const any.c i64[1] = {0}
#=     b f32[2] = add(y, y)
#=     l bool[2] = less(b, most)
#=     any u8[2] = cast(l) to="u8"
#=     any_9 u8[] = reducemax(any, any.c) @any_3 keepdims=0
#=     any_10 bool[] = cast(any_9) @any_4 to="bool"
#=     z bool[] = identity(any_10)
#=     z_12 f32[2] = identity(b) @z_6
#=     output z
#=     output z_12
#=   } n_carried=1
#=   b f32[2] = add(z, z)
#=   w f32[2] = identity(b)
#=   output w
#= }
