# Parameters of the next layer land under the vx operation that still reads the old ones.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=64 n1=1 n2=1 n3=1
lw.load seg=1 mem=1 sig=1 src=0 dst=0 count=2 n1=1
vx.map wait=0,1 a_kind=2 b_kind=4 use_bias=1 p=1 n0=4 as0=1 ds0=1 d=0x10 n1=1 n2=1 n3=1 a_scale=1 hi=127
lw.load dst=1 count=1
seq.halt
#= error: bundle 3, word 34: race, write after read: lw writes PM words 1, which vx.map of bundle 2, word 22, reads; no semaphore puts them in order
#=     lw.load dst=1 count=1
#= test/golden/check/race_war_pm.t: 1 program, 5 bundles, 5 operations: 1 errors, 0 warnings
