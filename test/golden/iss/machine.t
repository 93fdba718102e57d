# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
#: flip 2 0x100
seq.halt
#= error 3, the program is for another machine (unit seq) at word 0
