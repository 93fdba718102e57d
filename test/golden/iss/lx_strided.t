# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Four dimensions: 2 planes of 2 rows of 3 runs of 2 bytes, packed on chip; the source goes backwards in planes.
#: dump 0x1000 24 u8
lx.load seg=1 src=0x180 dst=0 run=2 n1=3 n2=2 n3=2 s1=4 s2=0x20 s3=-0x80 d1=2 d2=6 d3=12 ys=1
seq.barrier
st.store seg=1 dst=0x1000 src=0 run=24 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 128 129 132 133 136 137 160 161 164 165 168 169 0 1 4 5
#= 0x1010 u8 8 9 32 33 36 37 40 41
