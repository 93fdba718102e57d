# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
#: flip 0 1
seq.halt
#= error 1, the program does not start with the magic word (unit seq) at word 0
