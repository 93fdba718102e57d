# RUN: heddle check %s
# EXIT: 1
lx.nop
#= error: ends without seq.halt
#= test/golden/check/no_halt.t: 1 program, 1 bundles, 1 operations: 1 errors, 0 warnings
