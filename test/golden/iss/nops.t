# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Every unit's nop waits and signals: a token goes once round all units before the store may go.
#: dump 0x1000 4 u8
lx.load sig=1 seg=1 src=0x120 dst=0 run=4 n1=1 n2=1 n3=1
lx.nop sig=2
lw.nop wait=2 sig=3
mx.nop wait=3 sig=4
vx.nop wait=4 sig=5
st.nop wait=5 sig=6
seq.nop wait=6 sig=7
st.store wait=1,7 seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 32 33 34 35
