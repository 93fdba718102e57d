# RUN: heddle exec %s --devices iss,rtl --machine tiny
# P * V: rows of V (16 bytes, 8 rows) become columns of two WM words. x = (1, 0, 0, 2, 0 ...), so that sums are
# V[0][n] + 2 V[3][n]; then x = (0, 0, 0, 0, 0, 0, 0, -1).
#: arena 0x100 i8 1 0 0 2 0 0 0 0  0 0 0 0 0 0 0 -1
#: arena 0x200 i8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
#: arena 0x230 i8 3 3 3 3 3 3 3 3 -5 -5 -5 -5 0 0 0 0
#: arena 0x270 i8 9 8 7 6 5 4 3 2 1 0 -1 -2 -3 -4 -5 -6
#: dump 0x1000 32 i8
lx.load seg=1 src=0x100 dst=0 run=16 n1=1 n2=1 n3=1
lw.load seg=1 col=1 src=0x200 dst=3 count=2 n1=1 s2=16
seq.barrier
mx.gemm nred=0 w=3 n0=2 ws0=1 as0=1 n1=2 xs1=1 as1=2 n2=1 n3=1 n4=1 n5=1
seq.barrier
vx.map b_kind=4 d=8 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=32 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 7 8 9 10 11 12 13 14 -1 0 1 2 13 14 15 16
#= 0x1010 i8 -9 -8 -7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6
