# RUN: heddle opt test/golden/import/models/cut.tflite
# EXIT: 1
#= heddle opt: damaged: an offset leaves the file
#=   while importing test/golden/import/models/cut.tflite
