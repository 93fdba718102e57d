# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Softmax of 13 int32 of scale 0.125 to uint8 of scale 1/256 (docs/hw.md). The three lanes behind are not looked at.
#: arena 0x100 i32 8 16 -8 0 4 20 20 -40 12 3 1 -100 24 99999 99999 99999
#: dump 0x1000 16 u8
lx.load mem=1 seg=1 src=0x100 dst=0 run=64 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=0 b_kind=4 red=2 lanes=1 nred=1 d_kind=1 a=0 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 tail=5 a_scale=0.125
vx.map a_kind=0 b_kind=1 alu=2 fn=1 d_kind=2 a=0 b=8 d=4 ds0=1 a_scale=0.125 b_scale=1 q=20
vx.map a_kind=0 b_kind=4 red=1 lanes=1 nred=1 d_kind=1 a=4 d=9 ds0=0 a_scale=9.5367431640625e-7 tail=5 q=0
vx.map a_kind=1 b_kind=0 alu=3 fn=2 a=9 b=4 d=8 as0=0 bs0=1 ds0=1 a_scale=1 b_scale=9.5367431640625e-7 q=8 lo=0 hi=255
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=16 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 11 29 1 4 7 48 48 0 18 6 4 0 80 255 255 255
