# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Functions, times 64: exp, 1/x, 1/sqrt(x), tanh, sigmoid of x / 4; then tanh(x / 4) * y.
#: arena 0x100 i8 -16 -4 -1 1 2 4 8 16
#: arena 0x108 i8 1 2 3 4 5 6 7 8
#: dump 0x1000 48 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 fn=1 q=4 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=0.25 lo=-128 hi=127
vx.map a_kind=2 b_kind=4 fn=2 q=5 d=9
vx.map a_kind=2 b_kind=4 fn=3 q=6 d=10
vx.map a_kind=2 b_kind=4 fn=4 d=11
vx.map a_kind=2 b_kind=4 fn=5 d=12
vx.map a_kind=2 b_kind=2 fn=4 alu=3 q=3 b=1 b_scale=1 d=13
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=48 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 0 6 12 21 26 43 118 127 -8 -32 -128 127 64 32 16 8
#= 0x1010 i8 0 0 0 127 91 64 45 32 -64 -49 -16 16 30 49 62 64
#= 0x1020 i8 1 17 28 36 40 47 56 63 -8 -12 -6 8 18 37 54 64
