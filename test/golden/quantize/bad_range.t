# RUN: heddle quantize test/models/digits -o /tmp/q.onnx --range percentile:20
# EXIT: 2
#= heddle quantize: --range: got 'percentile:20', want percentile:P with 50 < P <= 100; see heddle quantize --help
