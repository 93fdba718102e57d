# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq conv
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq qconv
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'qconv, gemm' --stage legalize
#= name     op    layer
#= Conv_5   conv  Conv_5
#= Conv_11  conv  Conv_11
#= Conv_17  conv  Conv_17
#= Conv_27  conv  Conv_27
#= Conv_33  conv  Conv_33
#= Conv_38  conv  Conv_38
#= Conv_48  conv  Conv_48
#= Conv_54  conv  Conv_54
#= Conv_59  conv  Conv_59
#= 9 of 78 operations
#= name  op  layer
#= 0 of 78 operations
#= name     op     layer
#= Conv_5   qconv  Conv_5
#= Conv_11  qconv  Conv_11
#= Conv_17  qconv  Conv_17
#= Conv_38  qconv  Conv_38
#= Conv_27  qconv  Conv_27
#= Conv_33  qconv  Conv_33
#= Conv_59  qconv  Conv_59
#= Conv_48  qconv  Conv_48
#= Conv_54  qconv  Conv_54
#= Gemm_73  qgemm  Gemm_73
#= 10 of 18 operations
