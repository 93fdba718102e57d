# mx and vx write one word of AM.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0,2 src=0 dst=0 run=256 n1=1 n2=1 n3=1
lw.load seg=1 sig=1 src=0 dst=0 count=1 n1=1
mx.gemm wait=0,1 n0=8 xs0=1 as0=1 n1=1 n2=1 n3=1 n4=1 n5=1
vx.map wait=2 a_kind=2 b_kind=4 d_kind=1 n0=4 as0=1 ds0=1 d=7 n1=1 n2=1 n3=1 a_scale=1
seq.halt
#= error: bundle 3, word 32: race, write after write: vx writes AM words 7, which mx.gemm of bundle 2, word 22, writes; no semaphore puts them in order
#=     vx.map wait=2 a_kind=2 b_kind=4 d_kind=1 d=7 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1
#= test/golden/check/race_waw_am.t: 1 program, 5 bundles, 5 operations: 1 errors, 0 warnings
