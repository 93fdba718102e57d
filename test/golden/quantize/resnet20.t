# NEEDS: ../shared/models/resnet20_cifar10_bn
# RUN: heddle quantize ../shared/models/resnet20_cifar10_bn -o /tmp/heddle_golden_q20.onnx | tail -2
# RUN: heddle run /tmp/heddle_golden_q20.onnx --device iss --inputs ../shared/models/resnet20_cifar10_bn/test_data_set_0 | grep -c "qconv"
#= largest element in the same place: 7 of 7 sets
#= 30 layers in integers, 0 nodes in float; calibrated with 7 data sets beside the model; wrote /tmp/heddle_golden_q20.onnx
#= 19
