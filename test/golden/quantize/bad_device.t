# RUN: heddle quantize test/models/digits -o /tmp/q.onnx --device iss
# EXIT: 2
#= heddle quantize: --device: got 'iss', want golden or cpu, which run float networks; see heddle quantize --help
