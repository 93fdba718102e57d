# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Bytes of XM do not saturate.
st.store seg=1 sat=2 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit st) at word 5: st.store seg=1 sat=2 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
