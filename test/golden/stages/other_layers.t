# A choice changed by hand: the sum goes to the host, and the rest follows.
# RUN: heddle opt --stage layers --layers test/golden/stages/other.layers --dump layers --machine tiny test/golden/stages/residual.t
#= # residual on tiny
#= layers steps=2 layers=1 tensors=2
#= host y costly it is so small
#= # qconv: sum over p, q, c of w[m,p,q,c] * x[i*sy + p*dy - pt, j*sx + q*dx - pl, c]
#= layer 0 a matmul 0 -> 1 kh=1 kw=1 sy=1 sx=1 dy=1 dx=1 oh=8 ow=8 oc=8 uy=1 ux=1 planes=1 taps=1 groups=1 cw=1 nts=1 red=1 ppw=1 pm_words=1 y.lo=-128 y.hi=127 weight_bytes=128
#= tensor 0 x n=1 h=8 w=8 c=8 cp=8 bytes=8 pads_agree=1 comes_in=1
#= tensor 1 a n=1 h=8 w=8 c=8 cp=8 bytes=8 pads_agree=1 goes_out=1
