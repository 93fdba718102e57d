# A channel shuffle as a product: of eight words of a pixel each tile reads two, two words apart.
# RUN: heddle opt --stage import --dump layers %s
graph shuffled {
  input x i8[1,128,8,8]
  const p i64[5] = {1, 2, 64, 8, 8}
  const q i64[4] = {1, 128, 8, 8}
  k i8[1,128,8,8] = qmaxpool(x) kernel_shape=[2,2] strides=[1,1] pads=[0,0,1,1]
  a i8[1,2,64,8,8] = reshape(k, p)
  b i8[1,64,2,8,8] = transpose(a) perm=[0,2,1,3,4]
  y i8[1,128,8,8] = reshape(b, q)
  m i8[1,128,8,8] = qmaxpool(y) kernel_shape=[2,2] strides=[1,1] pads=[0,0,1,1]
  output m
}
#= # shuffled on base
#= layers steps=1 layers=3 tensors=4
#= # qmaxpool: max or sum over p, q of x[i*sy + p*dy - pt, j*sx + q*dx - pl, m]
#= layer 0 k pool 0 -> 1 kh=2 kw=2 sy=1 sx=1 dy=1 dx=1 oh=8 ow=8 oc=128 uy=1 ux=1 planes=1 taps=1 groups=1 nts=8 ppw=1 pm_words=1 y.lo=-128 y.hi=127 a_scale=0x1p+0
#= # qconv: sum over p, q, c of w[m,p,q,c] * x[i*sy + p*dy - pt, j*sx + q*dx - pl, c]
#= layer 1 y matmul 1 -> 2 kh=1 kw=1 sy=1 sx=1 dy=1 dx=1 oh=8 ow=8 oc=128 uy=1 ux=1 planes=1 taps=2 groups=1 cw=1 nts=8 red=2 ppw=1 pm_words=1 y.lo=-128 y.hi=127 weight_bytes=17408
#= # qmaxpool: max or sum over p, q of x[i*sy + p*dy - pt, j*sx + q*dx - pl, m]
#= layer 2 m pool 2 -> 3 kh=2 kw=2 sy=1 sx=1 dy=1 dx=1 oh=8 ow=8 oc=128 uy=1 ux=1 planes=1 taps=1 groups=1 nts=8 ppw=1 pm_words=1 y.lo=-128 y.hi=127 a_scale=0x1p+0
#= tensor 0 x n=1 h=8 w=8 c=128 cp=128 bytes=128 pads_agree=1 comes_in=1
#= tensor 1 k n=1 h=8 w=8 c=128 cp=128 bytes=128 pads_agree=1
#= tensor 2 y_8 n=1 h=8 w=8 c=128 cp=128 bytes=128 pads_agree=1
#= tensor 3 m n=1 h=8 w=8 c=128 cp=128 bytes=128 pads_agree=1 goes_out=1
