# RUN: heddle opt --pass fold %s
# What a loop takes from around it and is constant goes into its body, where it decides; what waits
# for an if waits for what comes in its place.
graph g {
  input x f32[2]
  const five i64[] = {5}
  const on bool[] = {1}
  const true bool[] = {1}
  off ? = not(on)
  y ? = loop(five, true, x, off, x) n_carried=1 body=graph body {
    input i i64[]
    input c bool[]
    input v f32[2]
    input off bool[]
    input x f32[2]
    w ? = if(off, v, x) then=graph a {
      input v f32[2]
      input x f32[2]
      o ? = exp(v)
      output o
    } else=graph b {
      input v f32[2]
      input x f32[2]
      o ? = add(v, x)
      output o
    }
    output c
    output w
  }
  e ? = if(on, x) then=graph a {
    input x f32[2]
    o ? = abs(x)
    p ? = neg(o) after(o)
    output p
  } else=graph b {
    input x f32[2]
    output x
  }
  r ? = relu(x) after(e)
  output y
  output e
  output r
}
#= graph g {
#=   input x f32[2]
#=   const five i64[] = {5}
#=   const true bool[] = {1}
#=   y f32[2] = loop(five, true, x, x) n_carried=1 body=graph body {
#=     input i i64[]
#=     input c bool[]
#=     input v f32[2]
#=     input x f32[2]
#=     w f32[2] = add(v, x) @o
#=     output c
#=     output w
#=   }
#=   o f32[2] = abs(x)
#=   e f32[2] = neg(o) @p after(o)
#=   r f32[2] = relu(x) after(o, p)
#=   output y
#=   output e
#=   output r
#= }
