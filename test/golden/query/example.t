# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'conv[utilization<0.5] > relu' | cut -c1-20
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'conv[utilization<0.5] > relu' --stage legalize
#= name    op    layer 
#= Relu_6  relu  Conv_5
#= 1 of 78 operations
#= name  op  layer  utilization
#= 0 of 18 operations
