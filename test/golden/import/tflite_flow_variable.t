# A variable in a branch.
# RUN: heddle opt test/golden/import/models/flow_variable.tflite
# EXIT: 1
#= heddle opt: READ_VARIABLE 'v': variable 'v' in a branch or in the body of a loop; allowed: outside of them
#=   while importing test/golden/import/models/flow_variable.tflite
