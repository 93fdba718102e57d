# RUN: heddle opt test/golden/import/models/external_length.onnx
# EXIT: 1
#= heddle opt: tensor '?': length of its data is 'many', want a number
#=   in tensor 'w'
#=   while reading the initializers
#=   while importing test/golden/import/models/external_length.onnx
