# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
lx.nop
seq.nop
#= error 4, bundle or operation that does not decode (unit seq) at word 8
