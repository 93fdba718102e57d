# RUN: heddle check %s --machine nano
# EXIT: 1
vx.map a_kind=4 b_kind=4 d_kind=1 n0=1 n1=1 n2=1 n3=1 a_scale=1 fn=2
seq.halt
#= error: bundle 0, word 5: fn is 2, the machine has no functions (functions = 0)
#=     vx.map a_kind=4 b_kind=4 d_kind=1 fn=2 n0=1 n1=1 n2=1 n3=1 a_scale=1
#= test/golden/check/fn.t: 1 program, 2 bundles, 2 operations: 1 errors, 0 warnings
