# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
vx.map a_kind=7 n0=1 n1=1 n2=1 n3=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit vx) at word 5: vx.map a_kind=7 n0=1 n1=1 n2=1 n3=1
