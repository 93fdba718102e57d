# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Segment 0 is the image, which begins with the program, "HDL1" in its first word: by LX as bytes, and by LW as the
# bias of lane 0 of a PM word (as binary32, so its last byte is rounded).
#: dump 0x1000 4 u8
#: dump 0x1010 4 u8
lx.load seg=0 src=0 dst=0 run=4 n1=1 n2=1 n3=1
lw.load seg=0 mem=1 src=0 dst=0 count=1 n1=1
seq.barrier
vx.map a_kind=5 b_kind=4 d_kind=2 n0=1 n1=1 n2=1 n3=1 a_scale=1
seq.barrier
st.store seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
st.store mem=1 seg=1 dst=0x1010
seq.halt
#= 0x1000 u8 72 68 76 52
#= 0x1010 u8 64 68 76 52
