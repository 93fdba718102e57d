# The shape of the result depends on values: those of the data set are taken, of the file that is written, too.
# RUN: rm -rf /tmp/heddle_golden_picks && mkdir /tmp/heddle_golden_picks
# RUN: cp test/golden/quantize/picks.onnx /tmp/heddle_golden_picks/model.onnx
# RUN: cp -r test/golden/quantize/shapes/test_data_set_0 /tmp/heddle_golden_picks
# RUN: heddle quantize /tmp/heddle_golden_picks --device golden -o /tmp/heddle_golden_picks/out.onnx
#= layer  op    result  from     to  SNR dB
#= conv   conv  r          0  1.742    43.5
#=
#= output y: inf dB
#= 1 layers in integers, 0 nodes in float; calibrated with 1 data sets beside the model; wrote /tmp/heddle_golden_picks/out.onnx
