# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Windows that go on from sums in AM (b_kind 0); lane l of vector j is 8 * j + l, every tap is 1. Six
# sums begin as 1000 + 8 * j + l (a copy); 2 x 1 windows, one a cycle, add to the second, third and fourth of them in place;
# then 3 x 1 windows add to every second sum, and bias 20 and scale 0.5 make bytes.
#: arena 0x200 i32 20 1056964608 20 1056964608 20 1056964608 20 1056964608
#: arena 0x220 i32 20 1056964608 20 1056964608 20 1056964608 20 1056964608
#: arena 0x240 i8 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0
#: dump 0x1000 48 i32
#: dump 0x1100 16 i8
lx.load seg=1 src=0 dst=0 run=256 n1=1 n2=1 n3=1
lw.load mem=1 seg=1 src=0x200 dst=0 count=2 n1=1 cut=4
seq.barrier
vx.map a_kind=2 b_kind=4 n0=6 n1=1 n2=1 n3=1 as0=1 ds0=1 d_kind=2 a_scale=1 a_imm=1000
vx.dw a_kind=3 b_kind=0 sx=1 n0=2 n1=3 n2=1 n3=1 as0=1 a_imm=0 d_kind=2 b=1 bs1=1 d=1 ds1=1 a_scale=1
vx.dw a_kind=3 b_kind=0 sx=2 n0=3 n1=2 n2=1 n3=1 as0=1 use_bias=1 scale_pm=1 d_kind=0 d=32 ds1=1 b=1 bs1=2 zp=-600 lo=-128 hi=127
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=0 run=192 n1=1 n2=1 n3=1
st.store mem=0 seg=1 dst=0x1100 src=256 run=16
seq.halt
#= 0x1000 i32 1000 1001 1002 1003 1004 1005 1006 1007 1016 1019 1022 1025 1028 1031 1034 1037
#= 0x1040 i32 1040 1043 1046 1049 1052 1055 1058 1061 1064 1067 1070 1073 1076 1079 1082 1085
#= 0x1080 i32 1032 1033 1034 1035 1036 1037 1038 1039 1040 1041 1042 1043 1044 1045 1046 1047
#= 0x1100 i8 -70 -67 -64 -61 -58 -55 -52 -49 -22 -19 -16 -13 -10 -7 -4 -1
