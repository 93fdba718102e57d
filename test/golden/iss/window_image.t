# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# The image is read only.
st.store tag=2 seg=0 dst=0 src=0 run=4 n1=1 n2=1 n3=1
seq.halt
#= error 5, DRAM access outside the segment's window (unit st) at word 5: st.store tag=2 seg=0 dst=0 src=0 run=4 n1=1 n2=1 n3=1
