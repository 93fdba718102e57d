# RUN: heddle opt test/golden/import/models/external_missing.onnx
# EXIT: 1
#= heddle opt: tensor 'w': its data is in 'nowhere.bin' of folder test/golden/import/models/: No such file or directory
#=   while importing test/golden/import/models/external_missing.onnx
