# RUN: heddle exec %s --devices iss,rtl --machine tiny
# int32 and binary32 between DRAM and AM: 8 int32 times 3 as int32, 8 binary32 minus 0.5 as binary32; strided stores,
# one from the middle of a word at an odd place in DRAM.
#: arena 0x100 i32 1 -2 3 1000000 -5 6 7 123456
#: arena 0x120 f32 1 2.5 -3 1e10 0.125 0.5 1e-3 -0.5
#: dump 0x1000 16 i32
#: dump 0x1040 8 f32
#: dump 0x1101 12 u8
lx.load mem=1 seg=1 src=0x100 dst=64 run=32 n1=2 n2=1 n3=1 s1=32 d1=64
seq.barrier
vx.map a_kind=0 b_kind=4 d_kind=2 a=2 d=6 n0=1 n1=1 n2=1 n3=1 a_scale=3
vx.map a_kind=1 b_kind=4 alu=1 d_kind=1 a=4 d=7 a_scale=1 b_imm=-1 b_scale=0.5
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=192 run=32 n1=1 n2=1 n3=1
st.store mem=1 seg=1 dst=0x1020 src=64 run=16 n1=2 n2=1 s1=16 d1=16
st.store mem=1 seg=1 dst=0x1040 src=224 run=32 n1=1 n2=1
st.store mem=1 seg=1 dst=0x1101 src=68 run=12 n1=1 n2=1
seq.halt
#= 0x1000 i32 3 -6 9 3000000 -15 18 21 370368 1 -2 3 1000000 -5 6 7 123456
#= 0x1040 f32 0.5 2 -3.5 1e+10 -0.375 0 -0.499000013 -1
#= 0x1101 u8 254 255 255 255 3 0 0 0 64 66 15 0
