# A factor for each channel of rows is read again for each row; along the channels of an image it is copied first.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[6,4]
  input u i8[1,2,3,4]
  input f i8[1,1,1,4]
  const s f32[] = {0.25}
  const z i8[] = {0}
  const w i8[4,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
  const b i32[4] = {0, 0, 0, 0}
  const one f32[4] = {1, 1, 1, 1}
  p ? = qgemm(x, w, b, one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
  q ? = reshape(p) shape=[1,2,3,4]
  a ? = dequantize(q, s, z)
  c ? = dequantize(f, s, z)
  d ? = mul(a, c)
  y ? = quantize(d, s, z)
  e ? = dequantize(u, s, z)
  h ? = mul(e, c)
  v ? = quantize(h, s, z)
  output y
  output v
}
#= graph g {
#=   input x i8[6,4]
#=   input u i8[1,2,3,4]
#=   input f i8[1,1,1,4]
#=   const w i8[4,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
#=   const b i32[4] = {0, 0, 0, 0}
#=   const one f32[4] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const ones i8[2,1,1,1] = {1, 1}
#=   const zeros i32[2] = {0, 0}
#=   const one_19 f32[1] = {0x1p+0}
#=   p i8[6,4] = qgemm(x, w, b, one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   q i8[1,2,3,4] = reshape(p) shape=[1,2,3,4]
#=   y i8[1,2,3,4] = qmul(q, f) @d to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-2
#=   f.copies i8[1,2,1,4] = qconv(f, ones, zeros, one_19) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127
#=   v i8[1,2,3,4] = qmul(u, f.copies) @h to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-2
#=   output y
#=   output v
#= }
