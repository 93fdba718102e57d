# RUN: heddle compile test/golden/import/models/nonzero.onnx -o /tmp/never.hdl
# EXIT: 1
#= heddle compile: node 'at' (nonzero): the shape of 'at' depends on the values of the run; give some with --inputs (quantize: --calibrate)
#=   while compiling test/golden/import/models/nonzero.onnx
