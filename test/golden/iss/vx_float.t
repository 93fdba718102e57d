# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Binary32 in AM: a * 0.1 * 10 - a is exactly 0 for these a when each step rounds to nearest even; then a * 0.1 * 3.33.
#: arena 0x100 i8 1 2 3 5 6 7 9 11
#: dump 0x1000 16 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 d_kind=1 a=0 d=0 n0=1 n1=1 n2=1 n3=1 a_scale=0.1
vx.map a_kind=1 b_kind=2 alu=2 d_kind=1 a=0 b=0 d=1 a_scale=10 b_scale=1
vx.map a_kind=1 b_kind=4 alu=0 d_kind=0 a=1 d=8 a_scale=16777216 lo=-128 hi=127
vx.map a_kind=1 b_kind=4 alu=0 d_kind=0 a=0 d=9 a_scale=3.3333333
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 0 0 0 0 0 0 0 0 0 1 1 2 2 2 3 4
