# A concat of convolutions is an image, too, though only slices read it: a wish goes on to a part of other channels.
# RUN: heddle opt --stage prepare --dump layers --machine base %s | grep ^tensor | cut -d' ' -f1-8
graph parts {
  input x i8[1,4,16,16]
  const a i8[4,4,1,1] = {2,-1,0,3,-6,-9,9,-5,0,7,-2,-1,-2,1,-4,4}
  const d i8[20,4,1,1] = {-6,-6,1,1,-2,5,-4,-7,1,-3,9,5,-1,-2,-6,-8,7,-3,1,9,-4,-1,1,-7,2,9,-5,4,0,7,-1,5,2,4,0,4,9,4,-8,4,-5,-3,-9,6,7,4,8,-2,-8,5,7,0,8,1,-2,-7,9,0,-6,-2,-8,-8,7,-3,4,9,-8,-9,6,-6,-4,7,0,-2,-9,7,8,4,-8,-6}
  const b4 i32[4] = {0,0,0,0}
  const b20 i32[20] = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}
  const s f32[1] = {0.1}
  const one i64[1] = {1}
  const two i64[1] = {2}
  const ten i64[1] = {10}
  const eighteen i64[1] = {18}
  c ? = qconv(x, a, b4, s) kernel_shape=[1,1] group=1
  e ? = qconv(x, d, b20, s) kernel_shape=[1,1] group=1
  t ? = concat(c, e) axis=1
  p ? = slice(t, two, ten, one)
  q ? = slice(t, ten, eighteen, one)
  y ? = qadd(p, q)
  const v i8[4,8,1,1] = {1,-5,-1,8,6,-8,2,-2,-3,-6,8,-6,-4,-2,-1,-5,-9,6,9,3,-8,-1,-2,-1,7,7,4,-8,6,1,-9,-8}
  z ? = qconv(y, v, b4, s) kernel_shape=[1,1] group=1
  output z
}
#= tensor 0 x n=1 h=16 w=16 c=4 cp=4
#= tensor 1 c n=1 h=16 w=16 c=4 cp=16
#= tensor 2 e n=1 h=16 w=16 c=20 cp=32
#= tensor 3 t n=1 h=16 w=16 c=24 cp=32
#= tensor 4 p n=1 h=16 w=16 c=8 cp=16
#= tensor 5 q n=1 h=16 w=16 c=8 cp=16
#= tensor 6 y n=1 h=16 w=16 c=8 cp=16
#= tensor 7 z n=1 h=16 w=16 c=4 cp=16
