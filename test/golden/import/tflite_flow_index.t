# A graph that is not there.
# RUN: heddle opt test/golden/import/models/flow_index.tflite
# EXIT: 1
#= heddle opt: IF 'y': it calls graph 3, allowed 1..2
#=   while importing test/golden/import/models/flow_index.tflite
