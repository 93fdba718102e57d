# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Operands from PM and from nowhere. Word 0 has biases 1 to 8, word 1 the binary32 1.5, -0.5 .. : zero with a_imm and
# bias; binary32 of PM times 4; a byte and an integer of PM; then tables 3 (x + 1) and 4 (-x) of what the first gave.
#: arena 0x100 i32 1 0 2 0 3 0 4 0 5 0 6 0 7 0 8 0
#: arena 0x140 f32 1.5 0 -0.5 0 2.25 0 10 0 -3 0 0.25 0 31 0 -32 0
#: arena 0x200 i8 10 20 30 40 50 60 70 80
#: arena 0x400 i8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
#: arena 0x500 i8 0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11 -12 -13 -14 -15 -16 -17
#: dump 0x1000 40 i8
lx.load seg=1 src=0x200 dst=0 run=8 n1=1 n2=1 n3=1
lw.load mem=1 seg=1 src=0x100 dst=0 count=2 n1=1
lw.load mem=2 seg=1 src=0x400 dst=2 count=2
seq.barrier
vx.map a_kind=4 b_kind=4 use_bias=1 a_imm=2 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=1 lo=-128 hi=127
vx.map a_kind=6 b_kind=4 p=1 d=9 a_scale=4
vx.map a_kind=2 a_imm=0 a_scale=1 b_kind=5 b_imm=1 b_scale=0.5 p=0 alu=1 d=10
vx.map a_kind=2 a=8 b_kind=4 alu=0 lut=3 d=11
vx.map a_kind=2 b_kind=4 lut=4 d=12
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=40 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 3 4 5 6 7 8 9 10 6 -2 9 40 -12 1 124 -128
#= 0x1010 i8 11 22 32 42 53 64 74 84 4 5 6 7 8 9 10 11
#= 0x1020 i8 -3 -4 -5 -6 -7 -8 -9 -10
