# RUN: heddle quantize test/golden/quantize/contrast.onnx --calibrate test/golden/quantize/contrast.npy -o /tmp/heddle_golden_contrast.onnx
#= layer    op    result  from   to  SNR dB
#= classes  gemm  y          0  4.5    49.3
#=
#= stays float  op    because
#= contrast     gemm  the largest output is then where it was on more data sets
#= relu         relu  its operand is float
#=
#= output y: 49.3 dB
#= largest element in the same place: 6 of 6 sets
#= search of 66 trials: 1 layers left in float for it
#= 1 layers in integers, 2 nodes in float; calibrated with test/golden/quantize/contrast.npy; wrote /tmp/heddle_golden_contrast.onnx
