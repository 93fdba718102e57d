# Linear resize by three coordinate modes: what is left to the host, golden = iss = rtl, and the check.
# RUN: t=$(mktemp -d) && python3 test/golden/resize/make_decoder.py $t/f.onnx && heddle quantize $t/f.onnx --device golden -o $t/q.onnx | grep -E '^output|in integers' | sed "s#wrote.*##"
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss,rtl --keep '*' --machine tiny | sed "s#$t/##"; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; rm -r $t
#= output y: 33.4 dB
#= 6 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; 
#= x.quantize quantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,3,8,10]
#= ok   c0.q i8[1,6,8,10], layer conv0
#= ok   r0.q i8[1,6,16,20], layer resize0
#= ok   c1.q i8[1,13,16,20], layer conv1
#= ok   r1.q i8[1,13,13,9], layer resize1
#= ok   c2.q i8[1,20,13,9], layer conv2
#= ok   y.q i8[1,20,6,4], layer resize2
#= ok   y f32[1,20,6,4]
#= golden,iss,rtl agree: 8 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
