# Races in WM, PM and TM, of which lw alone is a writer: read after write and write after read.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 src=0 dst=0 run=0x1000 n1=1 n2=1 n3=1
lw.load seg=1 mem=0 src=0 dst=0 count=4 n1=1
lw.load seg=1 mem=1
lw.load seg=1 mem=2 count=2
seq.barrier
lw.load seg=1 mem=0 dst=0 count=2
mx.gemm nred=1 w=1 n0=4 xs0=1 ws0=0 n1=1 n2=1 n3=1 n4=1 n5=1
seq.barrier
mx.gemm w=3
lw.load dst=2
seq.barrier
lw.load seg=1 mem=1 dst=0
vx.map a_kind=2 b_kind=4 use_bias=1 p=1 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x80 a_scale=1 lo=-128 hi=127
seq.barrier
vx.map p=3
lw.load dst=2
seq.barrier
lw.load seg=1 mem=2 dst=1 count=1
vx.map a_kind=2 b_kind=4 lut=2
seq.barrier
vx.map a_kind=2 b_kind=4 lut=1
lw.load dst=0
seq.halt
#= error: bundle 6, word 34: race, read after write: mx reads WM words 1, which lw.load of bundle 5, word 29, writes; no semaphore puts them in order
#=     mx.gemm nred=1 w=1 n0=4 xs0=1 ws0=0 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 9, word 50: race, write after read: lw writes WM words 3, which mx.gemm of bundle 8, word 47, reads; no semaphore puts them in order
#=     lw.load dst=2
#= error: bundle 12, word 59: race, read after write: vx reads PM words 1, which lw.load of bundle 11, word 55, writes; no semaphore puts them in order
#=     vx.map a_kind=2 b_kind=4 use_bias=1 d=128 p=1 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
#= error: bundle 15, word 75: race, write after read: lw writes PM words 3, which vx.map of bundle 14, word 72, reads; no semaphore puts them in order
#=     lw.load dst=2
#= error: bundle 18, word 85: race, read after write: vx reads TM words 1, which lw.load of bundle 17, word 80, writes; no semaphore puts them in order
#=     vx.map a_kind=2 b_kind=4 lut=2
#= error: bundle 21, word 93: race, write after read: lw writes TM words 0, which vx.map of bundle 20, word 90, reads; no semaphore puts them in order
#=     lw.load dst=0
#= test/golden/check/races_parameters.t: 1 program, 23 bundles, 23 operations: 6 errors, 0 warnings
