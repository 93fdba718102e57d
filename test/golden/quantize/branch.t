# RUN: heddle quantize test/golden/quantize/branch.onnx --device golden -o /tmp/heddle_golden_branch.onnx
#= layer  op    result    from     to  SNR dB
#= then   conv  then    -1.322  1.643    40.8
#= else   conv  else    -3.285  2.644    40.8
#=
#= stays float  op     because
#= choose       where  it has no integer form
#= relu         relu   its operand is float
#=
#= output y: 40.8 dB
#= 2 layers in integers, 2 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_branch.onnx
