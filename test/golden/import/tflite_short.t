# RUN: heddle opt test/golden/import/models/short.tflite
# EXIT: 1
#= heddle opt: ADD 'y': constant 'c' has 7 bytes of data, its shape wants 8
#=   while importing test/golden/import/models/short.tflite
