# The second load of weights has a semaphore, mx waits for the first one only.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=64 n1=1 n2=1 n3=1
lw.load seg=1 sig=1 src=0 dst=0 count=2 n1=1
lw.load sig=2 dst=2 count=2
mx.gemm wait=0,1 nred=1 n0=4 xs0=1 ws0=1 n1=1 n2=1 n3=1 n4=1 n5=1
mx.nop wait=2
seq.halt
#= error: bundle 3, word 27: race, read after write: mx reads WM words 2 to 3, which lw.load of bundle 2, word 22, writes; no semaphore puts them in order
#=     mx.gemm wait=0,1 nred=1 n0=4 xs0=1 ws0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= test/golden/check/race_raw_wm.t: 1 program, 6 bundles, 6 operations: 1 errors, 0 warnings
