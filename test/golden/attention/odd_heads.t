# A quantised encoder layer (18 positions of 45, 3 heads, first): what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 18 45 3 20 $t/f.onnx first && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= x.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[18,1,45]
#= ok   Add_1.q.rows i8[18,45], layer MatMul_0
#= ok   Transpose_7.float.q i8[1,3,18,15], layer Transpose_7
#= ok   Add_3.q.rows i8[18,45], layer MatMul_2
#= ok   Transpose_9.float.q i8[1,3,15,18], layer Transpose_9
#= ok   Div_11.q i8[1,3,18,18], layer MatMul_10
#= ok   Softmax_12.q u8[1,3,18,18], layer Softmax_12
#= ok   Add_5.q.rows i8[18,45], layer MatMul_4
#= ok   Transpose_14.float.q i8[1,3,18,15], layer Transpose_14
#= ok   MatMul_15.q i8[1,3,18,15], layer MatMul_15
#= ok   Reshape_17.float.q.rows i8[18,45], layer Reshape_17.float.q.rows
#= ok   Add_19.q.rows i8[18,45], layer MatMul_18
#= ok   Add_20.q i8[18,1,45], layer Add_20
#= ok   LayerNormalization_21.q i8[18,1,45], layer LayerNormalization_21
#= ok   Add_23.q.rows i8[18,20], layer MatMul_22
#= ok   Mul_28.q_217 i8[18,20], layer Mul_28
#= ok   Add_30.q.rows i8[18,45], layer MatMul_29
#= ok   Add_31.q i8[18,1,45], layer Add_31
#= ok   y.q i8[18,1,45], layer LayerNormalization_32
#= ok   y f32[18,1,45]
#= golden,iss,rtl agree: 20 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
