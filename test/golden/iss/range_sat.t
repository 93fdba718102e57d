# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Four bytes of AM become one: the last of the run lies behind AM (32768 bytes).
st.store mem=1 seg=1 sat=1 dst=0x1000 src=32752 run=4 n1=1 n2=1 n3=1
seq.barrier
st.store mem=1 seg=1 sat=1 dst=0x1000 src=32752 run=5 n1=1 n2=1 n3=1
seq.halt
#= error 7, on-chip address outside its memory, or misaligned (unit st) at word 15: st.store seg=1 mem=1 sat=1 dst=0x1000 src=0x7ff0 run=5 n1=1 n2=1 n3=1
