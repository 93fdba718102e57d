# RUN: heddle exec %s --devices iss,rtl --machine tiny
# What happens to a result of a window is what happens in vx.map: functions 1 to 5 of x / 4, times 64; tables 1 to 4
# (x + 1, x + 2, x + 3, x + 4). The window is one pixel, the tap 1.
#: arena 0x100 i8 -16 -4 -1 1 2 4 8 16
#: arena 0x108 i8 0 1 2 3 4 5 6 7
#: arena 0x240 i8 1 1 1 1 1 1 1 1
#: arena 0x400 i8 1 2 3 4 5 6 7 8
#: arena 0x500 i8 2 3 4 5 6 7 8 9
#: arena 0x600 i8 3 4 5 6 7 8 9 10
#: arena 0x700 i8 4 5 6 7 8 9 10 11
#: dump 0x1000 72 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
lw.load mem=1 seg=1 src=0x200 dst=0 count=2 n1=1
lw.load mem=2 seg=1 src=0x400 dst=0 count=4
seq.barrier
vx.dw a_kind=2 b_kind=4 sx=1 fn=1 q=4 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=0.25 lo=-128 hi=127
vx.dw a_kind=2 b_kind=4 sx=1 fn=2 q=5 d=9
vx.dw a_kind=2 b_kind=4 sx=1 fn=3 q=6 d=10
vx.dw a_kind=2 b_kind=4 sx=1 fn=4 d=11
vx.dw a_kind=2 b_kind=4 sx=1 fn=5 d=12
vx.dw a_kind=2 b_kind=4 sx=1 fn=0 q=0 a=1 a_scale=1 lut=1 d=13
vx.dw a_kind=2 b_kind=4 sx=1 lut=2 d=14
vx.dw a_kind=2 b_kind=4 sx=1 lut=3 d=15
vx.dw a_kind=2 b_kind=4 sx=1 lut=4 d=16
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=72 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 0 6 12 21 26 43 118 127 -8 -32 -128 127 64 32 16 8
#= 0x1010 i8 0 0 0 127 91 64 45 32 -64 -49 -16 16 30 49 62 64
#= 0x1020 i8 1 17 28 36 40 47 56 63 1 2 3 4 5 6 7 8
#= 0x1030 i8 2 3 4 5 6 7 8 9 3 4 5 6 7 8 9 10
#= 0x1040 i8 4 5 6 7 8 9 10 11
