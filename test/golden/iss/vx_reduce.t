# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Sum and maximum of 4 vectors; vector i holds 8 i .. 8 i + 7, minus 16.
#: dump 0x1000 16 i8
lx.load seg=1 src=0x100 dst=0 run=32 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 red=1 nred=1 a=0 d=8 n0=4 n1=1 n2=1 n3=1 as0=1 a_imm=-16 a_scale=1 lo=-128 hi=127
vx.map a_kind=2 b_kind=4 red=2 nred=1 d=9
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 -16 -12 -8 -4 0 4 8 12 8 9 10 11 12 13 14 15
