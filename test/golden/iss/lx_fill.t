# RUN: heddle exec %s --devices iss,rtl --machine tiny
# rows=0 with edge=1 fills without reading: src lies outside every window.
#: dump 0x1000 12 u8
lx.load seg=1 edge=1 pad=0x2a src=0xfffffff0 dst=3 run=3 n1=2 n2=1 n3=1 d1=5 ys=1
seq.barrier
st.store seg=1 dst=0x1000 src=0 run=12 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 0 0 0 42 42 42 0 0 42 42 42 0
