# RUN: heddle exec %s --devices iss,rtl --machine tiny
# No barrier: LX signals 0 and 1, LW signals 2, MX waits for both, VX for MX, ST for VX; ST frees the next LX.
#: arena 0x100 i8 1 2 3 4 5 6 7 8 -1 -2 -3 -4 -5 -6 -7 -8
#: arena 0x400 i8 2 0 0 0 0 0 0 0  0 2 0 0 0 0 0 0  0 0 2 0 0 0 0 0  0 0 0 2 0 0 0 0
#: arena 0x420 i8 0 0 0 0 2 0 0 0  0 0 0 0 0 2 0 0  0 0 0 0 0 0 2 0  0 0 0 0 0 0 0 2
#: dump 0x1000 16 i8
#: dump 0x1010 2 u8
lx.load sig=0,1 seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load sig=2 seg=1 src=0x400 dst=0 count=1 n1=1
mx.gemm wait=0,2 sig=3 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
vx.map wait=3,1 sig=4 b_kind=4 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=1 lo=-128 hi=127
{ lx.load wait=5 sig=0,1 src=0x108 ; lw.nop sig=2 ; mx.gemm wait=0,2 sig=3 ; vx.map wait=3,1 sig=4 ; st.store wait=4 sig=5 seg=1 dst=0x1000 src=64 run=8 n1=1 n2=1 n3=1 }
st.store wait=4 dst=0x1008
seq.halt
#= 0x1000 i8 2 4 6 8 10 12 14 16 -2 -4 -6 -8 -10 -12 -14 -16
#= 0x1010 u8 16 17
