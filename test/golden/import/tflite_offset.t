# RUN: heddle opt test/golden/import/models/offset.tflite
# EXIT: 1
#= heddle opt: not a TFLite model (TFL3), or cut short
#=   while importing test/golden/import/models/offset.tflite
