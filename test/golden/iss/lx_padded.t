# RUN: heddle exec %s --devices iss,rtl --machine tiny
# A 4 x 4 window at (-1, -1) of an image of 3 rows of 2 pixels of 4 bytes: what lies outside becomes -7 (0xf9).
#: arena 0x100 i8 1 2 3 4 5 6 7 8 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28
#: dump 0x1000 64 i8
lx.load seg=1 edge=1 pad=0xf9 src=0xf4 dst=0 run=16 n1=1 n2=4 n3=1 ys=1 s2=8 d2=16 x0=-4 row_bytes=8 y0=-1 rows=3
seq.barrier
st.store seg=1 dst=0x1000 src=0 run=64 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7 -7
#= 0x1010 i8 -7 -7 -7 -7 1 2 3 4 5 6 7 8 -7 -7 -7 -7
#= 0x1020 i8 -7 -7 -7 -7 11 12 13 14 15 16 17 18 -7 -7 -7 -7
#= 0x1030 i8 -7 -7 -7 -7 21 22 23 24 25 26 27 28 -7 -7 -7 -7
