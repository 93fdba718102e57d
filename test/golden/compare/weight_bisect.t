# RUN: t=$(mktemp -d) && python3 test/golden/compare/change_weight.py test/models/digits/model.onnx down_w 9 $t/b.onnx
# RUN: { heddle compare test/models/digits $t/b.onnx --devices iss --bisect --machine tiny 2>&1 | sed "s#$t/##"; rm -r $t; }
#= test/models/digits/model.onnx, machine tiny, inputs: test/models/digits/test_data_set_0
#= against b.onnx
#= DIFF down_q i8[1,32,4,4], layer down: 1 of 512 differ, max|diff| 3, mean 0.00586, rms 0.133, 59.2 dB
#=        at [0,0,3,3]: iss:1 -125, iss:2 -128
#= bisection of 9 values, 5 runs of each device
#= heddle compare: test/models/digits/model.onnx: iss:1 and iss:2 differ first in down_q (layer down)
