# RUN: heddle exec %s --devices iss,rtl --machine tiny
# WM in runs: the words at 0x400 and 0x480 become words 1 and 3; each holds one weight in column 0.
#: arena 0x100 i8 1 0 0 0 0 0 0 0
#: arena 0x400 i8 11
#: arena 0x480 i8 -12
#: dump 0x1000 1 i8
#: dump 0x1008 1 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 src=0x400 dst=1 count=1 n1=2 s1=0x80 d1=2
seq.barrier
mx.gemm w=1 n0=2 ws0=2 as0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.barrier
vx.map b_kind=4 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 11
#= 0x1008 i8 -12
