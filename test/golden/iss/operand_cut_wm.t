# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
lw.load seg=1 src=0x400 count=1 n1=1 cut=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit lw) at word 5: lw.load seg=1 cut=1 src=0x400 count=1 n1=1
