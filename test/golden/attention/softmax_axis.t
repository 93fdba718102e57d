# A quantised encoder layer (16 positions of 32, 2 heads, last): what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 16 32 2 32 $t/f.onnx last && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= x.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,16,32]
#= ok   Add_3.q.rows i8[16,32], layer MatMul_2
#= ok   Add_1.q.rows i8[16,32], layer MatMul_0
#= ok   Div_11.q i8[1,2,16,16], layer MatMul_10
#= ok   Div_11.q_187 i8[1,2,16,16], layer Div_11.q_187
#= ok   Softmax_12.q.turned u8[1,2,16,16], layer Softmax_12
#= ok   Add_5.q.rows i8[16,32], layer MatMul_4
#= ok   Reshape_18.float.q.rows i8[16,32], layer MatMul_16
#= ok   Add_20.q.rows i8[16,32], layer MatMul_19
#= ok   Add_21.q i8[1,16,32], layer Add_21
#= ok   LayerNormalization_22.q i8[1,16,32], layer LayerNormalization_22
#= ok   Add_24.q.rows i8[16,32], layer MatMul_23
#= ok   Mul_29.q_223 i8[16,32], layer Mul_29
#= ok   Add_31.q.rows i8[16,32], layer MatMul_30
#= ok   Add_32.q i8[1,16,32], layer Add_32
#= ok   y.q i8[1,16,32], layer LayerNormalization_33
#= ok   y f32[1,16,32]
#= golden,iss,rtl agree: 17 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
