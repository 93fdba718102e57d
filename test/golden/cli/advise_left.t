# Floats that are left in a network of integers: one has no integer form.
# RUN: t=$(mktemp -d) && heddle quantize test/golden/quantize/branch.onnx --device golden -o $t/q.onnx > /dev/null && heddle advise $t/q.onnx --machine tiny | tail -1; e=$?; rm -r $t; exit $e
#= float operations on the host: 3, 30.0 % of the time; heddle quantize gives integers to those that have an integer form
