# A loop whose value has another shape behind its body.
# RUN: heddle opt test/golden/import/models/flow_grows.tflite
# EXIT: 1
#= heddle opt: WHILE 'y': value 0 of the loop is f32[2], and f32[4] behind its body; want equal
#=   while importing test/golden/import/models/flow_grows.tflite
