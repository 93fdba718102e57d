# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
mx.gemm n0=4 n1=1 n2=1 n3=1 n4=0 n5=1
seq.halt
#= error 10, operand outside its legal values, e.g. a loop of 0 iterations (unit mx) at word 5: mx.gemm n0=4 n1=1 n2=1 n3=1 n4=0 n5=1
