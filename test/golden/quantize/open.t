# The batch is open in the file that is written, too, by its name; --shape or inputs close it. A data set beside the
# model that has another batch is not taken.
# RUN: heddle quantize test/golden/quantize/batch.onnx --device golden -o /tmp/heddle_golden_open.onnx
# RUN: heddle run /tmp/heddle_golden_open.onnx --inputs test/golden/quantize/shapes/test_data_set_3 --device golden | grep output
# RUN: heddle run /tmp/heddle_golden_open.onnx --shape N=3 --device golden | grep output
# RUN: rm -rf /tmp/heddle_golden_beside && mkdir /tmp/heddle_golden_beside
# RUN: cp -r test/golden/quantize/shapes/test_data_set_3 /tmp/heddle_golden_beside/test_data_set_0
# RUN: cp /tmp/heddle_golden_open.onnx /tmp/heddle_golden_beside/model.onnx
# RUN: heddle run /tmp/heddle_golden_beside --shape N=5 --device golden | grep output
#= layer    op      result    from     to  SNR dB
#= conv     conv    r            0  1.643    42.9
#= classes  matmul  y       -4.536  4.469    38.9
#=
#= output y: 38.9 dB
#= largest element in the same place: 4 of 4 sets
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_open.onnx
#= output y f32[2,5]
#= output y f32[3,5]
#= warning: /tmp/heddle_golden_beside/test_data_set_0 has not the sizes of --shape: inputs are random
#= output y f32[5,5]
