# RUN: heddle check %s
lx.load sig=0 seg=1 src=0 dst=0 run=256 n1=1 n2=1 n3=1
lw.load sig=1 src=0 dst=0 count=1 n1=1
mx.gemm wait=0,1 sig=2 nred=1 n0=1 n1=16 xs1=1 as1=1 n2=1 n3=1 n4=1 n5=1
vx.map wait=2 sig=3 b_kind=4 n0=16 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x100 a_scale=1 lo=-128 hi=127
st.store wait=3 seg=1 src=0x1000 dst=0x1000 run=256 n1=1 n2=1 n3=1
seq.halt
#= test/golden/check/clean.t: 1 program, 6 bundles, 6 operations: 0 errors, 0 warnings
