# RUN: heddle compare test/models/digits --devices golden,iss --machine tiny --bisect
#= test/models/digits/model.onnx, machine tiny, inputs: test/models/digits/test_data_set_0
#= bisection of 9 values, 2 runs of each device
#= golden,iss agree: 9 values compared, all bit-equal
