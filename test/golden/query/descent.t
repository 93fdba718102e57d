# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'gemm *'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '#Conv_48 conv'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'conv > quantize > dequantize > add'
#= name                 op          layer
#= QuantizeLinear_74    quantize    Gemm_73
#= DequantizeLinear_75  dequantize  Softmax_76
#= Softmax_76           softmax     Softmax_76
#= QuantizeLinear_77    quantize    Softmax_76
#= DequantizeLinear_78  dequantize  DequantizeLinear_78
#= 5 of 78 operations
#= name     op    layer
#= Conv_54  conv  Conv_54
#= 1 of 78 operations
#= name    op   layer
#= Add_21  add  Add_21
#= Add_42  add  Add_42
#= Add_63  add  Add_63
#= 3 of 78 operations
