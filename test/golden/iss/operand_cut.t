# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# A word of PM has 8 AXI words: at most 7 of them may be missing.
lw.load seg=1 mem=1 src=0x400 count=1 n1=1 cut=8
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit lw) at word 5: lw.load seg=1 mem=1 cut=8 src=0x400 count=1 n1=1
