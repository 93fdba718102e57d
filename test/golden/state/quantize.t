# Both ends of a state get one scale, so it is integers between runs. The samples are steps: the states go on from one to the next.
# RUN: heddle quantize test/golden/state/models/frames.onnx --state cache_out=cache --state h_out=h --calibrate test/golden/state/models/frames.npy --device golden -o /tmp/heddle_golden_frames.onnx
# RUN: heddle opt /tmp/heddle_golden_frames.onnx --state cache_out=cache --state h_out=h --pass legalize | grep -E 'put |variable|cache|h_out'
#= layer  op       result     from      to  SNR dB
#= conv   conv     r             0   2.203    42.7
#= mm_zx  matmul   za        -2.47   2.901    39.1
#= mm_zh  matmul   zb      -0.6403  0.9462    32.4
#= add_z  add      zs       -2.502   2.807    35.3
#= gate   sigmoid  z             0  0.9431    43.9
#= mm_hx  matmul   ha       -2.746   3.571    37.8
#= new    tanh     n       -0.9918  0.9984    36.6
#= sub    sub      d        -1.524   1.406    33.8
#= mul    mul      m       -0.7663  0.7511    32.3
#= add    add      h_out   -0.8833  0.8172    34.9
#= mm_y   matmul   y       -0.9714  0.5386    33.4
#=
#= output y: 33.4 dB
#= output cache_out: 46.7 dB
#= output h_out: 34.9 dB
#= largest element in the same place: 6 of 6 sets
#= 2 of 2 states are integers; run it with --state cache_out=cache --state h_out=h
#= 11 layers in integers, 0 nodes in float; calibrated with test/golden/state/models/frames.npy; wrote /tmp/heddle_golden_frames.onnx
#=   input x f32[1,16,1,8]
#=   input cache i8[1,16,2,8]
#=   input h i8[1,32]
#=   variable cache i8[1,16,2,8] = #e6a1d1c5
#=   variable h i8[1,32] = #cd3bccc5
#=   c.float.q i8[1,16,3,8] = concat(cache, x.q) @join axis=2
#=   h_out i8[1,32] = qadd(n.q, m.q) @add to="i8" y_zp=4 lo=-128 hi=127 a_zp=-1 b_zp=1 a_scale=0x1.dc6626p-1 b_scale=0x1.c8db22p-1
#=   y.q i8[1,10] = qgemm(h_out, Wo.i8.i8, bias.i32_121, Wo.i8.i8.scale) @mm_y to="i8" y_zp=36 lo=-128 hi=127 x_zp=4
#=   cache_out i8[1,16,2,8] = slice(c.float.q, one, many, two) @keep
#=   output y
#=   output cache_out
#=   output h_out
