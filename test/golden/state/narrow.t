# One scale: the state is integers between runs. Its names stay.
# RUN: heddle opt test/golden/state/models/cell.onnx --state hn=h --pass legalize | grep -v const
#= graph net {
#=   input x f32[1,16]
#=   input h i8[1,32]
#=   variable h i8[1,32] = #1ebb1565
#=   xq i8[1,16] = quantize(x, s, z) @q_xq
#=   aq i8[1,32] = qgemm(xq, Wx.i8, bias.i32, Wx.i8.scale) @mm_x to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   bq i8[1,32] = qgemm(h, Wh.i8, bias.i32_32, Wh.i8.scale) @mm_h to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   hn i8[1,32] = qadd(aq, bq) @add to="i8" y_zp=3 lo=-128 hi=127 a_zp=3 b_zp=3 a_scale=0x1p+0 b_scale=0x1p+0
#=   yq i8[1,10] = qgemm(hn, Wy.i8, bias.i32_35, Wy.i8.scale) @mm_y to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   y f32[1,10] = dequantize(yq, s, z) @dq_y
#=   output y
#=   output hn
#= }
