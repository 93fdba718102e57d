# RUN: heddle compile a.onnx
# EXIT: 2
#= heddle compile: -o OUT.hdl is missing: where should the model go?; see heddle compile --help
