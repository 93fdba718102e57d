# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Sliding windows; lane l of vector j is 8 * j + l. Taps of even lanes 1, 2, 3, of odd lanes -1, -2, -3; bias 20,
# scale 0.5. Windows of 3 at every pixel to int32; of 3 at every second to bytes with bias and scale; 2 x 2 at every
# third, unsigned, to binary32; then windows whose columns come from two operands: 3 wide (A0 B0 A1, A1 B1 A2)
# signed, 2 wide (B0 A0, B1 A1) unsigned.
#: arena 0x200 i32 20 1056964608 20 1056964608 20 1056964608 20 1056964608
#: arena 0x220 i32 20 1056964608 20 1056964608 20 1056964608 20 1056964608
#: arena 0x240 i8 1 -1 1 -1 1 -1 1 -1 2 -2 2 -2 2 -2 2 -2 3 -3 3 -3 3 -3 3 -3 0 0 0 0 0 0 0 0
#: dump 0x1000 32 i32
#: dump 0x1100 24 i8
#: dump 0x1200 16 f32
#: dump 0x1300 32 i32
lx.load seg=1 src=0 dst=0 run=256 n1=1 n2=1 n3=1
lw.load mem=1 seg=1 src=0x200 dst=0 count=2 n1=1 cut=4
seq.barrier
vx.dw a_kind=2 b_kind=4 sx=1 n0=3 n1=4 n2=1 n3=1 as0=1 d_kind=2 ds1=1 a_scale=1
vx.dw a_kind=2 b_kind=4 sx=2 n0=3 n1=3 use_bias=1 scale_pm=1 d_kind=0 d=32 zp=-100 lo=-128 hi=127
vx.dw a_kind=3 b_kind=4 sx=3 a=16 n0=2 n1=2 n2=2 n3=1 as2=8 d_kind=1 d=4 zp=0 a_scale=0.125 a_imm=-128
vx.dw a_kind=2 b_kind=2 sx=2 a=0 b=8 n0=3 n1=2 n2=1 n3=1 bs0=1 d_kind=2 d=6 a_scale=1 a_imm=0
vx.dw a_kind=3 b_kind=3 sx=2 n0=2 n1=2 a=16 b=24 d_kind=2 d=8
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=0 run=128 n1=1 n2=1 n3=1
st.store mem=0 seg=1 dst=0x1100 src=256 run=24
st.store mem=1 seg=1 dst=0x1200 src=128 run=64
st.store dst=0x1300 src=192 run=128
seq.halt
#= 0x1000 i32 64 -70 76 -82 88 -94 100 -106 112 -118 124 -130 136 -142 148 -154
#= 0x1040 i32 160 -166 172 -178 184 -190 196 -202 208 -214 220 -226 232 -238 244 -250
#= 0x1100 i8 -58 -125 -52 -128 -46 -128 -40 -128 -10 -128 -4 -128 2 -128 8 -128
#= 0x1110 i8 38 -128 44 -128 50 -128 56 -128
#= 0x1200 f32 26 -26.75 27.5 -28.25 29 -29.75 30.5 -31.25 44 -44.75 45.5 -46.25 47 -47.75 48.5 -49.25
#= 0x1300 i32 152 -158 164 -170 176 -182 188 -194 200 -206 212 -218 224 -230 236 -242
#= 0x1340 i32 448 -451 454 -457 460 -463 466 -469 472 -475 478 -481 484 -487 490 -493
