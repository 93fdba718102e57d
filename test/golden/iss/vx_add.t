# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Residual add: (a - 2) * 0.5 + (b + 1) * 2 - 10, a int8 and b uint8; then a - b, a * b, max and min of the same.
#: arena 0x100 i8 0 1 2 3 -100 100 127 -128
#: arena 0x108 u8 0 1 2 3 4 5 255 250
#: dump 0x1000 40 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=3 alu=1 a=0 b=1 d=8 n0=1 n1=1 n2=1 n3=1 a_imm=-2 b_imm=1 a_scale=0.5 b_scale=2 lo=-128 hi=127 zp=-10
vx.map a_kind=2 b_kind=3 alu=2 d=9
vx.map a_kind=2 b_kind=3 alu=3 d=10
vx.map a_kind=2 b_kind=3 alu=4 d=11
vx.map a_kind=2 b_kind=3 alu=5 d=12
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=40 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 -9 -6 -4 -2 -51 51 127 127 -13 -14 -16 -18 -71 27 -128 -128
#= 0x1010 i8 -12 -12 -10 -6 -128 127 127 -128 -8 -6 -4 -2 0 39 127 127
#= 0x1020 i8 -11 -10 -10 -10 -61 2 52 -75
