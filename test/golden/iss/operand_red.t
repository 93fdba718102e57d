# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# A reduction over one loop, but no way to reduce.
vx.map a_kind=2 nred=1 red=0 n0=4 n1=1 n2=1 n3=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit vx) at word 5: vx.map a_kind=2 nred=1 n0=4 n1=1 n2=1 n3=1
