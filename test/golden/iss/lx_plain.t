# RUN: heddle exec %s --devices iss,rtl --machine tiny
# One run that begins and ends inside bus words, moved by 5 bytes. The arena holds its offsets, mod 256.
#: dump 0x1000 32 u8
lx.load seg=1 src=0x103 dst=8 run=19 n1=1 n2=1 n3=1
seq.barrier
st.store seg=1 dst=0x1000 src=8 run=19 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18
#= 0x1010 u8 19 20 21 19 20 21 22 23 24 25 26 27 28 29 30 31
