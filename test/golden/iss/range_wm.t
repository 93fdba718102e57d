# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
lw.load seg=1 src=0x100 dst=0x3fe count=3 n1=1
seq.halt
#= error 7, on-chip address outside its memory, or misaligned (unit lw) at word 5: lw.load seg=1 src=0x100 dst=0x3fe count=3 n1=1
