# The second load overwrites the last row while mx may still read it.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=64 n1=1 n2=4 n3=1 s2=64 d2=64
lw.load seg=1 sig=1 src=0 dst=0 count=4 n1=1
mx.gemm wait=0,1 nred=1 n0=4 xs0=1 ws0=1 n1=4 xs1=4 as1=1 n2=1 n3=1 n4=1 n5=1
lx.load dst=0xf0 run=16 n1=1 n2=1
seq.halt
#= error: bundle 3, word 36: race, write after read: lx writes XM bytes 240 to 255, which mx.gemm of bundle 2, word 24, reads; no semaphore puts them in order
#=     lx.load dst=240 run=16 n1=1 n2=1
#= test/golden/check/race_war_xm.t: 1 program, 5 bundles, 5 operations: 1 errors, 0 warnings
