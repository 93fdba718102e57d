# RUN: heddle opt %s
graph g {
  input x f32[batch=3,channel=4]
  input w f32[5,channel=4]
  y ? = expression(x, w) expression="y[m,n] += x[n,k] * w[m,k]"
  z ? = expression(x) expression="z[k,n] = x[n,k] where n < 2"
  output y
  output z
}
#= graph g {
#=   input x f32[batch=3,channel=4]
#=   input w f32[5,channel=4]
#=   y f32[5,batch=3] = expression(x, w) expression="y[m,n] += x[n,k] * w[m,k]"
#=   z f32[channel=4,2] = expression(x) expression="z[k,n] = x[n,k] where n < 2"
#=   output y
#=   output z
#= }
