# Encoder layers on machines whose words are longer than their vectors (K > N): what is left to the host, golden = iss, and the check. Heads of 16 and, turned first, of 15 and 8.
# RUN: t=$(mktemp -d) && for m in "base 32 8 20 32 2" "tiny 16 8 18 45 3" "big 64 16 33 64 8"; do set -- $m; python3 test/golden/attention/make_encoder.py $4 $5 $6 40 $t/f.onnx && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null; heddle compile $t/q.onnx -o $t/q.hdl --machine $1 --set k=$2 --set n=$3 | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'; heddle compare $t/q.onnx --devices golden,iss --keep '*' --machine $1 --set k=$2 --set n=$3 | tail -n 1; heddle check $t/q.hdl | sed "s#.*: \([0-9]* program\)#\1#; s/, .* operations//"; done; rm -r $t
#= x.quantize quantize
#= y.dequantize dequantize
#= golden,iss agree: 18 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
#= x.quantize quantize
#= y.dequantize dequantize
#= golden,iss agree: 20 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
#= x.quantize quantize
#= y.dequantize dequantize
#= golden,iss agree: 20 values compared, all bit-equal
#= 1 program: 0 errors, 0 warnings
