# RUN: heddle opt test/golden/import/models/qonnx_bits.onnx
# EXIT: 1
#= heddle opt: node 'few' (Quant): input 3 ('b') is no constant of 1 to 32 whole bits
#=   while importing test/golden/import/models/qonnx_bits.onnx
