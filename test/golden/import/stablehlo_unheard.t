# RUN: heddle opt test/golden/import/models/unheard.mlir
# EXIT: 1
#= heddle opt: line 2 (stablehlo.unheard): the operation is not supported; docs/formats.md lists those that are
#=   in function 'main'
#=   while importing test/golden/import/models/unheard.mlir
