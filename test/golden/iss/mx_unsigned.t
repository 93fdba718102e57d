# RUN: heddle exec %s --devices iss,rtl --machine tiny
# The byte 200 as uint8 and as int8 (-56), times 3 in column 0 and times -1 in column 1; shown as eighths.
#: arena 0x100 u8 200 0 0 0 0 0 0 0
#: arena 0x400 i8 3 0 0 0 0 0 0 0  -1 0 0 0 0 0 0 0
#: dump 0x1020 4 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 src=0x400 dst=0 count=1 n1=1
seq.barrier
mx.gemm x_unsigned=1 a=0 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
mx.gemm x_unsigned=0 a=1
seq.barrier
vx.map b_kind=4 d=8 n0=2 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=0.125 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1020 src=64 run=2 n1=2 n2=1 n3=1 s1=8 d1=2
seq.halt
#= 0x1020 i8 75 -25 -21 7
