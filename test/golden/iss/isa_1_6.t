# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# The magic word of ISA 1.6: HDL3 instead of HDL4.
#: flip 0 0x07000000
seq.halt
#= error 1, the program does not start with the magic word (unit seq) at word 0
