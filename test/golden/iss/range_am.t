# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
mx.gemm a=1024 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.halt
#= error 7, on-chip address outside its memory, or misaligned (unit mx) at word 5: mx.gemm a=0x400 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
