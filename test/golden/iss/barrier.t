# RUN: heddle exec %s --devices iss,rtl --machine tiny
# seq.barrier holds what follows until the store is in memory; the second load reads what it wrote. seq.nop waits.
#: dump 0x1000 8 u8
lx.load sig=9 seg=1 src=0x120 dst=0 run=4 n1=1 n2=1 n3=1
seq.nop wait=9 sig=10
st.store wait=10 seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
seq.barrier
lx.load src=0x1000 dst=16
seq.barrier
st.store dst=0x1004 src=16
seq.halt
lx.load src=0 dst=0
#= 0x1000 u8 32 33 34 35 32 33 34 35
