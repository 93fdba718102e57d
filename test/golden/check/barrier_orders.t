# What a barrier or the sequencer's token orders needs no semaphore of its own.
# RUN: heddle check %s
lx.load seg=1 src=0 dst=0 run=256 n1=1 n2=1 n3=1
seq.barrier
vx.map sig=0 a_kind=2 b_kind=4 n0=16 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x100 a_scale=1 lo=-128 hi=127
seq.nop wait=0
st.store seg=1 src=0x1000 dst=0x1000 run=256 n1=1 n2=1 n3=1
seq.halt
#= test/golden/check/barrier_orders.t: 1 program, 6 bundles, 6 operations: 0 errors, 0 warnings
