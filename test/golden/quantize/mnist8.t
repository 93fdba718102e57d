# NEEDS: ../shared/models/mnist8
# RUN: heddle quantize ../shared/models/mnist8 --device golden -o /tmp/heddle_golden_q.onnx
# RUN: heddle quantize ../shared/models/mnist8 --device golden --keep conv -o /tmp/heddle_golden_q.onnx
#= layer           op      result             from     to  SNR dB
#= Convolution28   conv    ReLU32_Output_0       0  861.3    44.0
#= Convolution110  conv    ReLU114_Output_0      0   2036    39.2
#= Times212        matmul  Plus214_Output_0  -3569   6575    39.6
#=
#= output Plus214_Output_0: 39.6 dB
#= largest element in the same place: 3 of 3 sets
#= 3 layers in integers, 0 nodes in float; calibrated with 3 data sets beside the model; wrote /tmp/heddle_golden_q.onnx
#= layer     op      result             from    to  SNR dB
#= Times212  matmul  Plus214_Output_0  -3569  6575    39.7
#=
#= stays float     op    because
#= Convolution28   conv  asked for by --keep
#= ReLU32          relu  its operand is float
#= Convolution110  conv  asked for by --keep
#= ReLU114         relu  its operand is float
#=
#= output Plus214_Output_0: 39.7 dB
#= largest element in the same place: 3 of 3 sets
#= 1 layers in integers, 4 nodes in float; calibrated with 3 data sets beside the model; wrote /tmp/heddle_golden_q.onnx
