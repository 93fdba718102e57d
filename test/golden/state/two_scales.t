# Two scales: the state stays float.
# RUN: heddle opt test/golden/state/models/cell_two_scales.onnx --state hn=h --pass legalize | grep -v const
#= graph net {
#=   input x f32[1,16]
#=   input h f32[1,32]
#=   variable h f32[1,32] = #a7b537c5
#=   xq i8[1,16] = quantize(x, s, z) @q_xq
#=   hq i8[1,32] = quantize(h, ws, z) @q_hq
#=   aq i8[1,32] = qgemm(xq, Wx.i8, bias.i32, Wx.i8.scale) @mm_x to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   bq i8[1,32] = qgemm(hq, Wh.i8, bias.i32_32, Wh.i8.scale) @mm_h to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   cq i8[1,32] = qadd(aq, bq) @add to="i8" y_zp=3 lo=-128 hi=127 a_zp=3 b_zp=3 a_scale=0x1p+0 b_scale=0x1p+0
#=   hn f32[1,32] = dequantize(cq, s, z) @dq_hn
#=   yq i8[1,10] = qgemm(cq, Wy.i8, bias.i32_35, Wy.i8.scale) @mm_y to="i8" y_zp=3 lo=-128 hi=127 x_zp=3
#=   y f32[1,10] = dequantize(yq, s, z) @dq_y
#=   output y
#=   output hn
#= }
