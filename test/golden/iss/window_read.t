# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# The arena has 65536 bytes; the third run leaves it.
lx.load seg=1 src=0xfff0 dst=0 run=4 n1=3 n2=1 n3=1 s1=7 d1=4
seq.halt
#= error 5, DRAM access outside the segment's window (unit lx) at word 5: lx.load seg=1 src=0xfff0 dst=0 run=4 n1=3 n2=1 n3=1 s1=7 d1=4
