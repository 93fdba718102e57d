# RUN: heddle opt --pass axes %s
graph attention {
  input q f32[batch=2,head=4,query=3,width=8]
  input k f32[batch=2,key=5,head=4,width=8]
  input bias f32[key=5,head=4]
  const scale f32[] = {0.5}
  near ? = add(q, bias) by="name"
  wide ? = matmul(q, bias) by="name"
  output near
  output wide
}
#= graph attention {
#=   input q f32[batch=2,head=4,query=3,width=8]
#=   input k f32[batch=2,key=5,head=4,width=8]
#=   input bias f32[key=5,head=4]
#=   q.r f32[batch=2,head=4,query=3,width=8,1] = reshape(q) shape=[2,4,3,8,1]
#=   bias.t f32[head=4,key=5] = transpose(bias) perm=[1,0]
#=   bias.t.r f32[1,head=4,1,1,key=5] = reshape(bias.t) shape=[1,4,1,1,5]
#=   near f32[batch=2,head=4,query=3,width=8,key=5] = add(q.r, bias.t.r)
#=   q.t f32[batch=2,query=3,width=8,head=4] = transpose(q) perm=[0,2,3,1]
#=   q.t.r f32[48,4] = reshape(q.t) shape=[48,4]
#=   bias.t_11 f32[head=4,key=5] = transpose(bias) perm=[1,0]
#=   wide.m f32[48,5] = matmul(q.t.r, bias.t_11) @wide
#=   wide f32[batch=2,query=3,width=8,key=5] = reshape(wide.m) @wide_10 shape=[2,3,8,5]
#=   output near
#=   output wide
#= }
