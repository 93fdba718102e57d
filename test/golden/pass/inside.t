# RUN: heddle opt --pass cse,fold,simplify,dce %s
# Passes enter the graphs of control flow.
graph g {
  input c bool[]
  input x f32[2]
  y ? = if(c, x) then=graph one {
    input a f32[2]
    const zero f32[] = {0}
    b ? = add(a, zero)
    unused ? = exp(b)
    p ? = relu(b)
    q ? = relu(b)
    s ? = add(p, q)
    output s
  } else=graph other {
    input a f32[2]
    const k f32[2] = {1, 2}
    m ? = neg(k)
    s ? = mul(a, m)
    output s
  }
  output y
}
#= graph g {
#=   input c bool[]
#=   input x f32[2]
#=   y f32[2] = if(c, x) then=graph one {
#=     input a f32[2]
#=     p f32[2] = relu(a)
#=     s f32[2] = add(p, p)
#=     output s
#=   } else=graph other {
#=     input a f32[2]
#=     const m f32[2] = {-0x1p+0, -0x1p+1}
#=     s f32[2] = mul(a, m)
#=     output s
#=   }
#=   output y
#= }
