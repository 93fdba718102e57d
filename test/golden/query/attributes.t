# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'conv[kernel_shape="1,1"]'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '[weight_bytes>20000][macs]'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '[bound=memory]:not(.fused)'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '[shape*="64,8,8"][dtype=i8]'
#= name     op    layer    kernel_shape
#= Conv_38  conv  Conv_38  1,1
#= Conv_59  conv  Conv_59  1,1
#= 2 of 78 operations
#= name                 op          layer    weight_bytes  macs
#= DequantizeLinear_51  dequantize  Conv_54  37184         0
#= 1 of 78 operations
#= name     op    layer    bound
#= Gemm_73  gemm  Gemm_73  memory
#= 1 of 78 operations
#= name               op        layer    shape     dtype
#= QuantizeLinear_50  quantize  Conv_48  1,64,8,8  i8
#= QuantizeLinear_55  quantize  Conv_54  1,64,8,8  i8
#= QuantizeLinear_60  quantize  Conv_59  1,64,8,8  i8
#= QuantizeLinear_65  quantize  Add_63   1,64,8,8  i8
#= 4 of 78 operations
