# Pairs of units meet in XM: vx reads and st reads what lx writes, lx and vx write what st and mx read, both write.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 src=0 dst=0 run=0x1000 n1=1 n2=1 n3=1
lw.load seg=1 src=0 dst=0 count=1 n1=1
seq.barrier
lx.load dst=0 run=64
vx.map a_kind=2 b_kind=4 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x40 a_scale=1 lo=-128 hi=127
st.store seg=1 src=63 dst=0x2000 run=1 n1=1 n2=1 n3=1
seq.barrier
st.store src=0x100 dst=0x3000 run=64
lx.load dst=0x13f run=16
seq.barrier
mx.gemm nred=1 x=8 n0=4 xs0=1 n1=1 n2=1 n3=1 n4=1 n5=1
vx.map d=8
seq.barrier
lx.load dst=0x200 run=16
vx.map d=0x20
seq.halt
#= error: bundle 4, word 26: race, read after write: vx reads XM bytes 0, which lx.load of bundle 3, word 22, writes; no semaphore puts them in order
#=     vx.map a_kind=2 b_kind=4 d=64 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
#= error: bundle 5, word 36: race, read after write: st reads XM bytes 63, which lx.load of bundle 3, word 22, writes; no semaphore puts them in order
#=     st.store seg=1 dst=0x2000 src=63 run=1 n1=1 n2=1 n3=1
#= error: bundle 8, word 51: race, write after read: lx writes XM bytes 319, which st.store of bundle 7, word 46, reads; no semaphore puts them in order
#=     lx.load dst=0x13f run=16
#= error: bundle 11, word 67: race, write after read: vx writes XM bytes 128, which mx.gemm of bundle 10, word 57, reads; no semaphore puts them in order
#=     vx.map d=8
#= error: bundle 14, word 76: race, write after write: vx writes XM bytes 512, which lx.load of bundle 13, word 72, writes; no semaphore puts them in order
#=     vx.map d=32
#= test/golden/check/races_xm.t: 1 program, 16 bundles, 16 operations: 5 errors, 0 warnings
