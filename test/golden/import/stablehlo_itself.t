# RUN: heddle opt test/golden/import/models/itself.mlir
# EXIT: 1
#= heddle opt: line 2 (call): calls and regions deeper than 64
#=   in function 'main'
#=   while importing test/golden/import/models/itself.mlir
