# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Ties go to even, on both sides of zero: halves of 1..8 and -8..-1.
#: arena 0x100 i8 1 2 3 4 5 6 7 8 -8 -7 -6 -5 -4 -3 -2 -1
#: dump 0x1000 16 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=0.5 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 0 1 2 2 2 3 4 4 -4 -4 -3 -2 -2 -2 -1 0
