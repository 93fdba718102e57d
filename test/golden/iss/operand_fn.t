# RUN: heddle exec %s --devices iss --machine nano
# EXIT: 1
# A machine without functions refuses fn.
vx.map a_kind=4 b_kind=4 d_kind=1 n0=1 n1=1 n2=1 n3=1 a_scale=1
vx.map a_kind=4 b_kind=4 d_kind=1 n0=1 n1=1 n2=1 n3=1 fn=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit vx) at word 11: vx.map a_kind=4 b_kind=4 d_kind=1 fn=1 n0=1 n1=1 n2=1 n3=1
