# The batch is open in the file that is written, too; --shape closes it.
# RUN: heddle quantize test/golden/quantize/batch.onnx --device golden -o /tmp/heddle_golden_open.onnx
# RUN: heddle run /tmp/heddle_golden_open.onnx --inputs test/golden/quantize/shapes/test_data_set_3 --device golden | grep output
#= layer    op      result    from     to  SNR dB
#= conv     conv    r            0  1.643    44.6
#= classes  matmul  y       -4.536  4.469    45.9
#=
#= output y: 45.9 dB
#= largest element in the same place: 4 of 4 sets
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_open.onnx
#= output y f32[2,5]
