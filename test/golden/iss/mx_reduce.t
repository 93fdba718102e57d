# RUN: heddle exec %s --devices iss,rtl --machine tiny
# One sum over two words: x = 1..8 and 9..16. Column 0 adds all, column 1 takes x[0] and minus x[15], others 0.
#: arena 0x100 i8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
#: arena 0x400 i8 1 1 1 1 1 1 1 1  1 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0
#: arena 0x428 i8 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0
#: arena 0x440 i8 1 1 1 1 1 1 1 1  0 0 0 0 0 0 0 -1  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0
#: arena 0x468 i8 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0
#: dump 0x1000 8 u8
#: dump 0x1008 8 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
lw.load seg=1 src=0x400 dst=0 count=2 n1=1
seq.barrier
mx.gemm nred=1 n0=2 xs0=1 ws0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.barrier
vx.map b_kind=4 a=0 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=1 lo=-128 hi=255
vx.map d=9 a_scale=0.5
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 136 241 0 0 0 0 0 0
#= 0x1008 i8 68 -8 0 0 0 0 0 0
