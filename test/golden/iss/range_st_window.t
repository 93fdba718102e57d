# RUN: heddle exec %s --devices rtl --machine tiny
# EXIT: 1
# A store that ends a byte behind the window of its segment, the one before it at its end.
st.store seg=1 dst=65472 src=0 run=64 n1=1 n2=1 n3=1
st.store dst=65473
seq.halt
#= error 5, DRAM access outside the segment's window (unit st) at word 13: st.store dst=0xffc1
