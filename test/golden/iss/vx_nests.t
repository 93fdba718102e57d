# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Reductions over 2, 3 and 4 loops; lane l of vector i is 8 * i + l - 60. Sums of 4 vectors, greatest of 8, sum of all
# 16, sum of 8 with 1 added to each.
#: dump 0x1000 64 i32
lx.load seg=1 src=0 dst=0 run=128 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=2 b_kind=4 red=1 nred=2 d_kind=2 n0=2 n1=2 n2=2 n3=2 as0=1 as1=2 as2=4 as3=8 ds2=1 ds3=2 a_imm=-60 a_scale=1
vx.map a_kind=2 b_kind=4 red=2 nred=3 d_kind=2 d=4 ds2=0 ds3=1
vx.map a_kind=2 b_kind=4 red=1 nred=4 d_kind=2 d=6
vx.map a_kind=2 b_kind=4 red=1 nred=3 d_kind=2 a_imm=-59 n2=2 n3=1 d=7
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=0 run=256 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i32 -192 -188 -184 -180 -176 -172 -168 -164 -64 -60 -56 -52 -48 -44 -40 -36
#= 0x1040 i32 64 68 72 76 80 84 88 92 192 196 200 204 208 212 216 220
#= 0x1080 i32 -4 -3 -2 -1 0 1 2 3 60 61 62 63 64 65 66 67
#= 0x10c0 i32 0 16 32 48 64 80 96 112 -248 -240 -232 -224 -216 -208 -200 -192
