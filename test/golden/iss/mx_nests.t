# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Reductions over 2 to 5 loops. Word i of XM is (i + 1, 0, ..), lane n weighs by n + 1: sums of 4 words, of 8, of
# all 16, and of all 16 twice, each times n + 1.
#: arena 0x100 i8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
#: arena 0x200 i8 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 3 0 0 0 0 0 0 0 4 0 0 0 0 0 0 0
#: arena 0x220 i8 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0 8 0 0 0 0 0 0 0
#: dump 0x1000 64 i32
lx.load edge=1 pad=0 rows=0 seg=1 src=0 dst=0 run=128 n1=1 n2=1 n3=1
lx.load edge=0 seg=1 src=0x100 run=1 n1=16 n2=1 s1=1 d1=8
lw.load seg=1 src=0x200 dst=0 count=1 n1=1
seq.barrier
mx.gemm nred=2 a=0 n0=2 xs0=1 n1=2 xs1=2 n2=2 xs2=4 as2=1 n3=2 xs3=8 as3=2 n4=1 n5=1
mx.gemm nred=3 a=4 as3=1
mx.gemm nred=4 a=6
mx.gemm nred=5 a=7 n4=2 xs4=0
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=0 run=256 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i32 10 20 30 40 50 60 70 80 26 52 78 104 130 156 182 208
#= 0x1040 i32 42 84 126 168 210 252 294 336 58 116 174 232 290 348 406 464
#= 0x1080 i32 36 72 108 144 180 216 252 288 100 200 300 400 500 600 700 800
#= 0x10c0 i32 136 272 408 544 680 816 952 1088 272 544 816 1088 1360 1632 1904 2176
