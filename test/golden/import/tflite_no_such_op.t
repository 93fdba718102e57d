# RUN: heddle opt test/golden/import/models/no_such_op.tflite
# EXIT: 1
#= heddle opt: operation of the schema (code 33), at 'y', is not supported; docs/formats.md lists those that are
#=   while importing test/golden/import/models/no_such_op.tflite
