# RUN: heddle exec %s --devices iss,rtl --machine tiny
# 2 planes of 2 rows of 2 runs of 3 bytes; bytes between the runs keep what they held.
#: arena 0x1000 u8 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99
#: arena 0x1020 u8 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99 99
#: dump 0x1000 64 u8
lx.load seg=1 src=0x100 dst=0 run=64 n1=1 n2=1 n3=1
seq.barrier
st.store seg=1 dst=0x1001 src=1 run=3 n1=2 n2=2 n3=2 d1=5 d2=13 d3=32 s1=3 s2=10 s3=20
seq.halt
#= 0x1000 u8 99 1 2 3 99 99 4 5 6 99 99 99 99 99 11 12
#= 0x1010 u8 13 99 99 14 15 16 99 99 99 99 99 99 99 99 99 99
#= 0x1020 u8 99 21 22 23 99 99 24 25 26 99 99 99 99 99 31 32
#= 0x1030 u8 33 99 99 34 35 36 99 99 99 99 99 99 99 99 99 99
