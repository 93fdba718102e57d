# A quantised encoder layer (18 positions, 2 heads, causal rms): what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 18 32 2 48 $t/f.onnx causal rms  && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= x.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,18,32]
#= ok   Add_1.q.rows i8[18,32], layer MatMul_0
#= ok   Add_3.q.rows i8[18,32], layer MatMul_2
#= ok   Div_11.q i8[1,2,18,18], layer MatMul_10
#= ok   Add_12.q i8[1,2,18,18], layer Add_12
#= ok   Softmax_13.q u8[1,2,18,18], layer Softmax_13
#= ok   Add_5.q.rows i8[18,32], layer MatMul_4
#= ok   Reshape_18.float.q.rows i8[18,32], layer MatMul_16
#= ok   Add_20.q.rows i8[18,32], layer MatMul_19
#= ok   Add_21.q i8[1,18,32], layer Add_21
#= ok   Mul_27.q i8[1,18,32], layer Mul_27/Mul
#= ok   Add_29.q.rows i8[18,48], layer MatMul_28
#= ok   Mul_34.q_248 i8[18,48], layer Mul_34
#= ok   Add_36.q.rows i8[18,32], layer MatMul_35
#= ok   Add_37.q i8[1,18,32], layer Add_37
#= ok   y.q i8[1,18,32], layer Mul_43/Mul
#= ok   y f32[1,18,32]
#= golden,iss,rtl agree: 17 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
