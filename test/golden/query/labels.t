# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '.machine:not(.fused)'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '.input, .output'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq .removed
#= name                  op       layer
#= Conv_5                conv     Conv_5
#= Conv_11               conv     Conv_11
#= Conv_17               conv     Conv_17
#= Add_21                add      Add_21
#= Conv_27               conv     Conv_27
#= Conv_33               conv     Conv_33
#= Conv_38               conv     Conv_38
#= Add_42                add      Add_42
#= Conv_48               conv     Conv_48
#= Conv_54               conv     Conv_54
#= Conv_59               conv     Conv_59
#= Add_63                add      Add_63
#= GlobalAveragePool_67  avgpool  GlobalAveragePool_67
#= Gemm_73               gemm     Gemm_73
#= Softmax_76            softmax  Softmax_76
#= 15 of 78 operations
#= name                 op          layer
#= QuantizeLinear_1     quantize    QuantizeLinear_1
#= DequantizeLinear_78  dequantize  DequantizeLinear_78
#= 2 of 78 operations
#= name                 op          layer
#= DequantizeLinear_19  dequantize  
#= DequantizeLinear_37  dequantize  
#= DequantizeLinear_58  dequantize  
#= 3 of 78 operations
