# RUN: heddle opt test/golden/import/models/complex_input.mlir
# EXIT: 1
#= heddle opt: line 0 (function): x is complex; give its parts as two inputs
#=   in function 'main'
#=   while importing test/golden/import/models/complex_input.mlir
