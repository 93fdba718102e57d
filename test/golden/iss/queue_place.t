# RUN: heddle exec %s --devices iss,rtl --machine tiny --cycles
# Issue waits for a place in ST's queue while LW and MX take operations: it may look in the very cycle in which ST takes
# one, and must not have that place before the next. What it issues then, a load, is as much later: equal cycles.
lx.load sig=2,3 seg=1 src=0 dst=0 run=4096 n1=1 n2=1 n3=1
lx.load sig=1 seg=1 src=0 dst=8192 run=8 n1=1 n2=1 n3=1
lw.nop wait=2
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
lw.nop
mx.nop wait=3
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
st.nop wait=1
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
st.nop
lx.load seg=1 src=0 dst=0 run=4096 n1=1 n2=1 n3=1
seq.barrier
seq.halt
#= iss: 1275 cycles, 8736 bytes read, 0 bytes written
#= rtl: 1275 cycles, 8736 bytes read, 0 bytes written
