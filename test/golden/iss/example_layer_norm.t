# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Layer norm of 13 int8, eps 0.25, gamma 20 and beta 1 (lane 0: 40 and -1), to int8 (docs/hw.md).
#: arena 0x100 i8 8 16 -8 0 4 20 20 -40 12 3 1 -100 24 99 99 99
#: arena 0x800 f32 -1 40 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20 1 20
#: dump 0x1000 16 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
lw.load seg=1 mem=1 src=0x800 dst=0 count=2 n1=1
seq.barrier
vx.map a_kind=2 b_kind=4 red=1 lanes=1 nred=1 d_kind=1 a=0 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 tail=5 a_scale=0.0769230769
vx.map a_kind=2 b_kind=1 alu=2 d_kind=1 a=0 b=8 d=2 ds0=1 a_scale=1 b_scale=1
vx.map a_kind=1 b_kind=1 alu=3 d_kind=2 a=2 b=2 d=4 bs0=1 q=6
vx.map a_kind=0 b_kind=4 alu=1 fn=3 red=1 lanes=1 nred=1 d_kind=1 a=4 d=9 ds0=0 a_scale=0.00120192308 b_imm=1 b_scale=0.25 tail=5
vx.map a_kind=1 b_kind=1 alu=3 d_kind=1 a=2 b=9 d=2 bs0=0 ds0=1 a_scale=1 b_imm=0 b_scale=1
vx.map a_kind=1 b_kind=6 alu=1 scale_pm=1 a=2 d=8 p=0 ps0=1 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 13 13 -2 3 5 15 15 -22 10 5 4 -59 18 65 65 65
