# A quantised encoder layer (33 positions of 40, 1 heads, decomposed): what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 33 40 1 24 $t/f.onnx decomposed && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= x.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,33,40]
#= ok   Add_1.q.rows i8[33,40], layer MatMul_0
#= ok   Add_3.q.rows i8[33,40], layer MatMul_2
#= ok   Div_11.q i8[1,1,33,33], layer MatMul_10
#= ok   Softmax_12.q u8[1,1,33,33], layer Softmax_12
#= ok   Add_5.q.rows i8[33,40], layer MatMul_4
#= ok   Reshape_17.float.q.rows i8[33,40], layer MatMul_15
#= ok   Add_19.q.rows i8[33,40], layer MatMul_18
#= ok   Add_20.q i8[1,33,40], layer Add_20
#= ok   Add_29.q i8[1,33,40], layer Add_29
#= ok   Add_31.q.rows i8[33,24], layer MatMul_30
#= ok   Mul_36.q_220 i8[33,24], layer Mul_36
#= ok   Add_38.q.rows i8[33,40], layer MatMul_37
#= ok   Add_39.q i8[1,33,40], layer Add_39
#= ok   y.q i8[1,33,40], layer Add_48
#= ok   y f32[1,33,40]
#= golden,iss,rtl agree: 16 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
