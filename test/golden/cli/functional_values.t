# RUN: heddle compare test/models/digits --devices golden,iss --functional --keep '*' --seed 3
#= test/models/digits/model.onnx, machine base, inputs: test/models/digits/test_data_set_0
#= ok   image_q i8[1,1,8,8]
#= ok   conv1_q i8[1,16,8,8], layer conv1
#= ok   res_a_q i8[1,16,8,8], layer res_a
#= ok   res_b_q i8[1,16,8,8], layer res_b
#= ok   res_add_q i8[1,16,8,8], layer res_add
#= ok   down_q i8[1,32,4,4], layer down
#= ok   pool_q i8[1,32,1,1], layer pool
#= ok   dense_q i8[1,10], layer dense
#= ok   logits f32[1,10]
#= golden,iss agree: 9 values compared, all bit-equal
