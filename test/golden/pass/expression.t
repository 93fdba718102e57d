# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,8]
  input c f32[1,4,6]
  const w f32[8,4] = {0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7}
  p ? = expression(x, w) @product expression="(x, w) -> y; y[n,m] += w[k,m] * x[n,k]"
  s ? = expression(x) @other expression="y[i,j] = 1 / (1 + exp(-x[i,j]))"
  r ? = expression(p) @relu expression="(x) -> y; y[...] = select(x[...] < 0, 0, x[...])"
  m ? = expression(c) @least expression="y[i,j,k] = max(x[i,j,k], 1)"
  t ? = expression(c) @five expression="t[i,j] += x[i,j,k] where k < 5"
  u ? = expression(c, c) @twice expression="y[i,j,k] = a[i,j,k] * b[i,j,k]"
  output s
  output r
  output m
  output t
  output u
}
#= graph g {
#=   input x f32[2,8]
#=   input c f32[1,4,6]
#=   const w f32[8,4] = #e2bc8b45
#=   s f32[2,8] = expression(x) @other expression="y[i,j] = 1 / (1 + exp(-x[i,j]))"
#=   m f32[1,4,6] = expression(c) @least expression="y[i,j,k] = max(x[i,j,k], 1)"
#=   t f32[1,4] = expression(c) @five expression="t[i,j] += x[i,j,k] where k < 5"
#=   p f32[2,4] = matmul(x, w) @product
#=   r f32[2,4] = relu(p) @relu
#=   u f32[1,4,6] = mul(c, c) @twice
#=   output s
#=   output r
#=   output m
#=   output t
#=   output u
#= }
