# RUN: heddle opt test/golden/import/models/custom_short.tflite
# EXIT: 1
#= heddle opt: Convolution2DTransposeBias 'y': options of 8 bytes, allowed at least 12
#=   while importing test/golden/import/models/custom_short.tflite
