# RUN: heddle exec %s --devices iss,rtl --machine tiny
# PM in runs whose last words end early. Two vectors of 3 x 3 taps, 17 AXI words each in DRAM, words 0 to 2 and 4 to 6:
# bias 0, 1, .. 7 and 100, 101, .. (scale 1), taps 0..7 are 1, tap 8 is lane + 1, and -1. All bytes of XM are 2, so
# that a result is 16 + bias + 2 * tap 8. What a load leaves out of a word keeps what it holds: two runs, a word apart in
# DRAM and on chip, bring two taps into word 1, where they meet six old ones, and tap 8. They are not one run of 2 words.
#: arena 0x0 i8 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
#: arena 0x100 i32 0 1065353216 1 1065353216 2 1065353216 3 1065353216
#: arena 0x120 i32 4 1065353216 5 1065353216 6 1065353216 7 1065353216
#: arena 0x140 i8 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
#: arena 0x160 i8 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
#: arena 0x180 i8 1 2 3 4 5 6 7 8
#: arena 0x188 i32 100 1065353216 101 1065353216 102 1065353216 103 1065353216
#: arena 0x1a8 i32 104 1065353216 105 1065353216 106 1065353216 107 1065353216
#: arena 0x1c8 i8 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
#: arena 0x1e8 i8 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
#: arena 0x208 i8 -1 -1 -1 -1 -1 -1 -1 -1
#: arena 0x240 i8 -1 -1 -1 -1 -1 -1 -1 -1 -2 -2 -2 -2 -2 -2 -2 -2
#: arena 0x280 i8 5 5 5 5 5 5 5 5
#: dump 0x1000 16 i8
#: dump 0x1010 8 i8
lx.load seg=1 src=0 dst=0 run=24 n1=1 n2=1 n3=1
lw.load mem=1 seg=1 src=0x100 dst=0 count=3 n1=2 s1=136 d1=4 cut=7
seq.barrier
vx.dw a_kind=2 b_kind=4 sx=1 n0=3 n1=1 n2=3 n3=2 as0=1 as2=0 as3=0 ds3=1 ps3=4 d=8 use_bias=1 scale_pm=1 lo=-128 hi=127
seq.barrier
lw.load mem=1 seg=1 src=0x240 dst=1 count=1 n1=2 s1=64 d1=1 cut=6
seq.barrier
vx.dw a_kind=2 b_kind=4 sx=1 use_bias=1 scale_pm=1 d=10 n2=3 n3=1
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=24 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 18 21 24 27 30 33 36 39 114 115 116 117 118 119 120 121
#= 0x1010 i8 16 17 18 19 20 21 22 23
