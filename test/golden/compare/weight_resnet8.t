# NEEDS: ../shared/models/mlperf_ic_resnet8_int8_qdq
# RUN: t=$(mktemp -d) && python3 test/golden/compare/change_weight.py ../shared/models/mlperf_ic_resnet8_int8_qdq/model.onnx w_27 500 $t/b.onnx && { heddle compare ../shared/models/mlperf_ic_resnet8_int8_qdq $t/b.onnx --devices golden,iss 2>&1 | grep -E '^DIFF|differ first' | head -1 | cut -d: -f1; rm -r $t; }
#= DIFF quantizelinear_34 i8[1,32,16,16], layer Conv_33
