# RUN: heddle opt --pass attention %s | grep matmul
graph g {
  input q f32[2,3,4]
  input k f32[2,4,3]
  input v f32[2,3,4]
  input mask f32[3,3]
  const f f32[] = {0.5}
  s ? = matmul(q, k)
  c ? = div(s, f)
  cm ? = add(mask, c)
  p ? = softmax(cm) axis=2
  y ? = matmul(p, v)
  p2 ? = softmax(y) axis=2
  s3 ? = matmul(q, k)
  p3 ? = softmax(s3) axis=-1
  z ? = matmul(p3, v)
  output z
  output p2
}
#=   s f32[2,3,3] = matmul(q, k)
#=   y f32[2,3,4] = matmul(p, v) attention="masked"
#=   s3 f32[2,3,3] = matmul(q, k)
#=   z f32[2,3,4] = matmul(p3, v) attention="plain"
