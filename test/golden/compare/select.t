# RUN: heddle compare test/models/digits --devices golden,iss,rtl --machine tiny --select 'qadd, #down > *'
#= test/models/digits/model.onnx, machine tiny, inputs: test/models/digits/test_data_set_0
#= ok   image_q i8[1,1,8,8]
#= ok   res_add_q i8[1,16,8,8], layer res_add
#= ok   pool_q i8[1,32,1,1], layer pool
#= ok   logits f32[1,10]
#= golden,iss,rtl agree: 4 values compared, all bit-equal
