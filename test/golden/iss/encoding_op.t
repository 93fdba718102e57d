# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# Word 5 is the head of lx.nop; op code 9 does not exist.
#: flip 5 0x48
lx.nop
seq.halt
#= error 4, bundle or operation that does not decode (unit lx) at word 5
