# RUN: heddle exec %s --devices iss,rtl --machine tiny
# A nop between an operation that is long in work and one that ends right behind it: found by cosim,
# the end of the second was lost.
#: dump 0x1000 4 u8
mx.gemm nred=6 n0=24 n1=1 n2=1 n3=1 n4=1 n5=1
mx.nop
mx.gemm nred=6 a=5 n0=1 n1=1
seq.barrier
st.store seg=1 dst=0x1000 src=0 run=2 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 0 0 2 3
