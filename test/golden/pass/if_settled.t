# RUN: heddle opt --pass fold,dce %s
# A condition that folds: the branch stands in place, with the names it can keep; so does one within,
# whose condition is the value of a graph around it, and one in a branch that the run chooses.
graph g {
  input c bool[]
  input x f32[2]
  const two i64[] = {2}
  const three i64[] = {3}
  less ? = less(two, three)
  more ? = not(less)
  s ? = exp(x)
  y ? = if(less, x, s, more) then=graph one {
    input a f32[2]
    input b f32[2]
    input never bool[]
    s ? = add(a, b)
    r ? = if(never, s) then=graph inner {
      input q f32[2]
      t ? = relu(q)
      output t
    } else=graph innermost {
      input q f32[2]
      const k f32[2] = {1, 2}
      s ? = mul(q, k)
      output s
    }
    output r
  } else=graph other {
    input a f32[2]
    input b f32[2]
    input never bool[]
    output a
  }
  z ? = if(c, y, more) then=graph hit {
    input p f32[2]
    input never bool[]
    u ? = if(never, p) then=graph no {
      input p f32[2]
      o ? = relu(p)
      output o
    } else=graph yes {
      input p f32[2]
      o ? = tanh(p)
      output o
    }
    output u
  } else=graph miss {
    input p f32[2]
    input never bool[]
    o ? = neg(p)
    output o
  }
  output y
  output z
}
#= graph g {
#=   input c bool[]
#=   input x f32[2]
#=   const k f32[2] = {0x1p+0, 0x1p+1}
#=   s f32[2] = exp(x)
#=   s_10 f32[2] = add(x, s) @s_5
#=   y f32[2] = mul(s_10, k) @s_8
#=   z f32[2] = if(c, y) then=graph hit {
#=     input p f32[2]
#=     u f32[2] = tanh(p) @o
#=     output u
#=   } else=graph miss {
#=     input p f32[2]
#=     o f32[2] = neg(p)
#=     output o
#=   }
#=   output y
#=   output z
#= }
