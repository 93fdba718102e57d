# A quantised encoder layer (20 positions, 2 heads, padded): what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 20 32 2 32 $t/f.onnx padded  && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= x.quantize quantize
#= Sub_12 sub
#= Mul_13 mul
#= Mul_13.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,20,32]
#= ok   Mul_13.q i8[1,1,1,20]
#= ok   Add_1.q.rows i8[20,32], layer MatMul_0
#= ok   Add_3.q.rows i8[20,32], layer MatMul_2
#= ok   Div_11.q.blocks i8[40,20], layer MatMul_10
#= ok   Add_14.q.blocks i8[40,20], layer Add_14
#= ok   Softmax_15.q u8[1,2,20,20], layer Softmax_15
#= ok   Add_5.q.rows i8[20,32], layer MatMul_4
#= ok   Reshape_20.float.q.rows i8[20,32], layer MatMul_18
#= ok   Add_22.q.rows i8[20,32], layer MatMul_21
#= ok   Add_23.q i8[1,20,32], layer Add_23
#= ok   LayerNormalization_24.q i8[1,20,32], layer LayerNormalization_24
#= ok   Add_26.q.rows i8[20,32], layer MatMul_25
#= ok   Mul_31.q_234 i8[20,32], layer Mul_31
#= ok   Add_33.q.rows i8[20,32], layer MatMul_32
#= ok   Add_34.q i8[1,20,32], layer Add_34
#= ok   y.q i8[1,20,32], layer LayerNormalization_35
#= ok   y f32[1,20,32]
#= golden,iss,rtl agree: 18 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
