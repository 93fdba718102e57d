# RUN: heddle opt test/golden/import/models/if_nested.onnx
#= graph net {
#=   input c bool[]
#=   input x f32[2]
#=   y f32[2] = if(c, c, x) @choose then=graph deep {
#=     input c bool[]
#=     input x f32[2]
#=     y f32[2] = if(c, c, x) @choose then=graph deep {
#=       input c bool[]
#=       input x f32[2]
#=       y f32[2] = if(c, x) @choose then=graph relu {
#=         input x f32[2]
#=         b f32[2] = relu(x)
#=         output b
#=       } else=graph neg {
#=         input x f32[2]
#=         b f32[2] = neg(x)
#=         output b
#=       }
#=       output y
#=     } else=graph neg {
#=       input c bool[]
#=       input x f32[2]
#=       b f32[2] = neg(x)
#=       output b
#=     }
#=     output y
#=   } else=graph abs {
#=     input c bool[]
#=     input x f32[2]
#=     b f32[2] = abs(x)
#=     output b
#=   }
#=   output y
#= }
