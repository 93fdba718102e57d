# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
#: flip 4 0x01000000
seq.nop
seq.halt
#= error 4, bundle or operation that does not decode (unit seq) at word 4
