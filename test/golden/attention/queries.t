# Nothing but the border is left to the host where tokens are as many as channels, queries are constant, a factor belongs
# to each head, and rows of rank 4 behind a residual have a mean; golden = iss.
# RUN: t=$(mktemp -d) && python3 test/golden/attention/make_queries.py $t/f.onnx && heddle quantize $t/f.onnx --device golden -o $t/q.onnx > /dev/null
# RUN: heddle compile $t/q.onnx -o $t/q.hdl --machine tiny | awk '/^on the host/ {on = 1; next} /^$/ {on = 0} on {print $1, $2}'
# RUN: heddle compare $t/q.onnx --devices golden,iss --keep '*' --machine tiny | sed "s#$t/##"; rm -r $t
#= x.quantize quantize
#= q.int8.q.loaded concat
#= a.dequantize dequantize
#= y.dequantize dequantize
#= q.onnx, machine tiny, inputs: random, seed 1
#= ok   x.q i8[1,3,16,16]
#= ok   q.int8.q.loaded i8[1,2,5,8]
#= ok   c.q i8[1,16,4,4], layer patches
#= ok   u.float.q.rows i8[16,16], layer u.float.q.rows
#= ok   m.q.rows i8[16,16], layer mix
#= ok   n.float.q i8[1,16,16], layer back
#= ok   z.q i8[1,16,16], layer sum
#= ok   k.q.rows i8[16,16], layer keys
#= ok   s.q i8[1,2,5,16], layer scores
#= ok   ss.q i8[1,2,5,16], layer factors
#= ok   p.q u8[1,2,5,16], layer softmax
#= ok   a.q i8[1,2,5,8], layer sums
#= ok   a f32[1,2,5,8]
#= ok   d.q.rows i8[16,16], layer dense
#= ok   e.q i8[1,16,16], layer residual
#= ok   g.q_134 i8[1,16,4,4], layer g.q_134
#= ok   mean.window.q i8[1,16,1,1], layer mean
#= ok   y.q.rows i8[1,16], layer last
#= ok   y.q i8[1,1,1,16], layer last
#= ok   y f32[1,1,1,16]
#= golden,iss agree: 20 values compared, all bit-equal
