# Pairs of units meet in AM: vx and st read what mx sums, mx and lx write what vx and st read, lx and vx both write.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 mem=1 src=0 dst=0 run=0x4000 n1=1 n2=1 n3=1
seq.barrier
lx.load mem=0 run=0x1000
lw.load seg=1 src=0 dst=0 count=1 n1=1
seq.barrier
mx.gemm nred=0 n0=4 xs0=1 as0=1 n1=1 n2=1 n3=1 n4=1 n5=1
vx.map a_kind=0 a=3 b_kind=4 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x80 a_scale=1 lo=-128 hi=127
st.store seg=1 mem=1 src=0 dst=0x8000 run=4 n1=1 n2=1 n3=1
seq.barrier
vx.map a=8
mx.gemm a=9
seq.barrier
st.store src=0x400 run=64
lx.load mem=1 dst=0x43c run=4
seq.barrier
lx.load dst=0x800 run=64
vx.map a_kind=2 a=0 d_kind=1 d=0x1f
seq.halt
#= error: bundle 6, word 38: race, read after write: vx reads AM words 3, which mx.gemm of bundle 5, word 28, writes; no semaphore puts them in order
#=     vx.map b_kind=4 a=3 d=128 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
#= error: bundle 7, word 49: race, read after write: st reads AM words 0, which mx.gemm of bundle 5, word 28, writes; no semaphore puts them in order
#=     st.store seg=1 mem=1 dst=0x8000 src=0 run=4 n1=1 n2=1 n3=1
#= error: bundle 10, word 62: race, write after read: mx writes AM words 9, which vx.map of bundle 9, word 59, reads; no semaphore puts them in order
#=     mx.gemm a=9
#= error: bundle 13, word 71: race, write after read: lx writes AM words 16, which st.store of bundle 12, word 67, reads; no semaphore puts them in order
#=     lx.load mem=1 dst=0x43c run=4
#= error: bundle 16, word 82: race, write after write: vx writes AM words 32, which lx.load of bundle 15, word 78, writes; no semaphore puts them in order
#=     vx.map a_kind=2 d_kind=1 a=0 d=31
#= test/golden/check/races_am.t: 1 program, 18 bundles, 18 operations: 5 errors, 0 warnings
