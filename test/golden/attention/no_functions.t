# An encoder layer on a machine without functions of VX: softmax and layer norm are left to the host, each with what would change it; golden = iss.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_encoder.py 16 32 2 32 $t/f.onnx last && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine nano | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {$3 = ""; print}'
# RUN: heddle compare $t/q.onnx --devices golden,iss --machine nano | tail -1; rm -r $t
#= x.quantize quantize  reads float at the border of the network feed integers to the network
#= Reshape_6 reshape  moves data at the border of the machine's part, where the host packs them anyway
#= Transpose_7 transpose  moves data at the border of the machine's part, where the host packs them anyway
#= Reshape_8 reshape  moves data at the border of the machine's part, where the host packs them anyway
#= Transpose_9.q transpose  moves data at the border of the machine's part, where the host packs them anyway
#= Reshape_14 reshape  moves data at the border of the machine's part, where the host packs them anyway
#= Transpose_15 transpose  moves data at the border of the machine's part, where the host packs them anyway
#= MatMul_10 qmatmul  the machine's vector unit has no functions use a machine with functions (functions = 1)
#= Div_11.q_187 transpose  12 us on the machine with the transfers of its part of the network, 5 us here quantise the nodes around it, so that it joins a larger part
#= Softmax_12 qsoftmax  the machine's vector unit has no functions use a machine with functions (functions = 1)
#= MatMul_16 qmatmul  the machine's vector unit has no functions use a machine with functions (functions = 1)
#= Transpose_17 transpose  moves data at the border of the machine's part, where the host packs them anyway
#= Reshape_18.float.q.rows reshape  moves data at the border of the machine's part, where the host packs them anyway
#= LayerNormalization_22 qlayernorm  the machine's vector unit has no functions use a machine with functions (functions = 1)
#= LayerNormalization_33 qlayernorm  the machine's vector unit has no functions use a machine with functions (functions = 1)
#= y.dequantize dequantize  computes in float; the machine works on int8 quantise the node (heddle quantize, or QDQ around it), or leave it at the border of the network
#= golden,iss agree: 12 values compared, all bit-equal
