# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq 'conv[cycles>0][efficiency>0]' | wc -l
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '[share>15%]:not(.fused)' --device iss | cut -d' ' -f1
# RUN: heddle query ../shared/models/mlperf_ic_resnet8_int8_qdq '[cycles=0]:not(.fused)'
#= 11
#= name
#= Conv_11
#= Conv_17
#= Conv_33
#= Conv_54
#= 4
#= name    op   layer   cycles
#= Add_21  add  Add_21  0
#= Add_42  add  Add_42  0
#= 2 of 78 operations
