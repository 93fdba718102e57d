# RUN: heddle opt --pass dynamic %s
graph g {
  input x f32[1,1,2,2]
  const w u8[2,1,1,1] = {1, 5}
  const wz u8[] = {2}
  const ws f32[1,2,1,1] = {0.5, 0.25}
  const b f32[1,2,1,1] = {1.0, 2.0}
  xq ?, xs ?, xz ? = dynamicquantize(x)
  i ? = convinteger(xq, w, xz, wz) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
  c ? = cast(i) to="f32"
  s ? = mul(xs, ws)
  m ? = mul(c, s)
  y ? = add(m, b)
  output y
}
#= graph g {
#=   input x f32[1,1,2,2]
#=   const b f32[1,2,1,1] = {0x1p+0, 0x1p+1}
#=   const w.f f32[2,1,1,1] = {-0x1p-1, 0x1.8p-1}
#=   m f32[1,2,2,2] = conv(x, w.f) @i kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y f32[1,2,2,2] = add(m, b)
#=   output y
#= }
