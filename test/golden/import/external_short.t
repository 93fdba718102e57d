# RUN: heddle opt test/golden/import/models/external_short.onnx
# EXIT: 1
#= heddle opt: tensor 'w': 8 bytes at 8 of 'weights.bin', which has 12
#=   while importing test/golden/import/models/external_short.onnx
