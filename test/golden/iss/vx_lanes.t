# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Across the lanes of two vectors, 5 lanes of the second: sum, maximum of int8, maximum of binary32 from AM; then
# the sum of each vector of its own.
#: arena 0x100 i8 1 2 3 4 5 6 7 8  9 10 11 -12 13 100 101 102
#: dump 0x1000 40 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 red=1 lanes=1 tail=5 nred=1 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
vx.map a_kind=2 b_kind=4 red=2 lanes=1 nred=1 d=9
vx.map a_kind=2 b_kind=4 red=0 lanes=0 nred=0 d_kind=1 d=0 a_scale=-0.5
vx.map a_kind=1 b_kind=4 red=2 lanes=1 nred=1 d_kind=0 d=10 a_scale=1
vx.map a_kind=2 b_kind=4 red=1 lanes=1 tail=0 d=11 a_scale=0.125
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=40 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 67 67 67 67 67 67 67 67 13 13 13 13 13 13 13 13
#= 0x1010 i8 6 6 6 6 6 6 6 6 4 4 4 4 4 4 4 4
#= 0x1020 i8 42 42 42 42 42 42 42 42
