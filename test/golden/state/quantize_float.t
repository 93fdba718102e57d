# What one state becomes is kept in float: then that state is float, and the other one is not.
# RUN: heddle quantize test/golden/state/models/frames.onnx --state cache_out=cache --state h_out=h --calibrate test/golden/state/models/frames.npy --keep add -o /tmp/heddle_golden_kept.onnx > /dev/null && heddle opt /tmp/heddle_golden_kept.onnx --state cache_out=cache --state h_out=h --pass legalize | grep -E 'put |variable'
#=   input x f32[1,16,1,8]
#=   input cache i8[1,16,2,8]
#=   input h f32[1,32]
#=   variable h f32[1,32] = #a7b537c5
#=   variable cache i8[1,16,2,8] = #e6a1d1c5
#=   output y
#=   output cache_out
#=   output h_out
