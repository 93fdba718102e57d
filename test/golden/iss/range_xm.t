# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
lx.load seg=1 src=0x100 dst=0x7ffd run=4 n1=1 n2=1 n3=1
seq.halt
#= error 7, on-chip address outside its memory, or misaligned (unit lx) at word 5: lx.load seg=1 src=0x100 dst=0x7ffd run=4 n1=1 n2=1 n3=1
