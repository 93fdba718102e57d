# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Operands from PM: x * gamma + beta with gamma the scale of a PM word and beta its bias as binary32; then its
# bias as int32 minus x.
#: arena 0x100 i8 1 2 3 4 5 6 7 8
#: arena 0x800 f32 0.5 2 1.5 -1 2.5 3 0 4 -3.5 0.25 100 1 7 -2 1e9 1
#: arena 0x840 i32 10 0 20 0 30 0 40 0 50 0 60 0 70 0 -80 0
#: dump 0x1000 16 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 mem=1 src=0x800 dst=0 count=2 n1=1
seq.barrier
vx.map a_kind=2 b_kind=6 alu=1 scale_pm=1 b_scale=1 d=8 n0=1 n1=1 n2=1 n3=1 lo=-128 hi=127
vx.map a_kind=5 b_kind=2 alu=2 scale_pm=0 a_scale=1 p=1 d=9
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 2 0 12 16 -2 106 -7 127 9 18 27 36 45 54 63 -88
