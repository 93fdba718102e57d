# RUN: heddle test test/golden/import/checks --device cpu
#= ok   test/golden/import/checks/complex.mlir#1: 7 comparisons
#= ok   test/golden/import/checks/complex.mlir#2: 3 comparisons
#= ok   test/golden/import/checks/complex.mlir#3: 2 comparisons
#= ok   test/golden/import/checks/parallel.mlir#1: 10 comparisons
#= ok   test/golden/import/checks/select.mlir#1: 1 comparisons
#= ok   test/golden/import/checks/select.mlir#2: 2 comparisons
#= 6 passed, 0 failed, 0 skipped
