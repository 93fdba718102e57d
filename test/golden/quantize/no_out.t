# RUN: heddle quantize test/models/digits
# EXIT: 2
#= heddle quantize: -o OUT.onnx is missing: where should the network go?; see heddle quantize --help
