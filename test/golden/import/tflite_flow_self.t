# A graph that calls itself.
# RUN: heddle opt test/golden/import/models/flow_self.tflite
# EXIT: 1
#= heddle opt: IF 'b': its graphs are nested deeper than 16, or have more than 4194304 tensors and operations
#=   while importing test/golden/import/models/flow_self.tflite
