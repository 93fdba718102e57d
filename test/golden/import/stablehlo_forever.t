# RUN: heddle opt test/golden/import/models/forever.mlir
# EXIT: 1
#= heddle opt: line 6 (stablehlo.return): more than 32768 operations, loops written out
#=   in function 'main'
#=   while importing test/golden/import/models/forever.mlir
