# RUN: heddle opt test/golden/import/models/if_run_time.onnx
#= graph net {
#=   input c bool[]
#=   input x f32[2]
#=   input z f32[1]
#=   y f32[2] = if(c, x, z) @choose then=graph add {
#=     input x f32[2]
#=     input z f32[1]
#=     const w f32[2] = {0x1p+0, 0x1p+1}
#=     b f32[2] = add(x, w)
#=     output b
#=   } else=graph mul {
#=     input x f32[2]
#=     input z f32[1]
#=     b f32[2] = mul(x, z)
#=     output b
#=   }
#=   output y
#= }
