# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '#Add_21'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '#Add_21 > *, #Conv_5 > *'
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '#"Add_21":not(add)'
#= name    op   layer
#= Add_21  add  Add_21
#= 1 of 78 operations
#= name     op    layer
#= Relu_6   relu  Conv_5
#= Relu_22  relu  Add_21
#= 2 of 78 operations
#= name  op  layer
#= 0 of 78 operations
