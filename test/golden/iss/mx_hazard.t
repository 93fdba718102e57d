# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Four operations of one iteration add to the same word, back to back: 4 * x. Then words that alternate.
#: arena 0x100 i8 1 -2 3 -4 5 -6 7 -8
#: arena 0x400 i8 1 0 0 0 0 0 0 0  0 1 0 0 0 0 0 0  0 0 1 0 0 0 0 0  0 0 0 1 0 0 0 0
#: arena 0x420 i8 0 0 0 0 1 0 0 0  0 0 0 0 0 1 0 0  0 0 0 0 0 0 1 0  0 0 0 0 0 0 0 1
#: dump 0x1000 24 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 src=0x400 dst=0 count=1 n1=1
seq.barrier
mx.gemm n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
mx.gemm accumulate=1
mx.gemm
mx.gemm
mx.gemm a=1 n0=2 n1=1 as0=1 accumulate=0
mx.gemm accumulate=1
mx.gemm
seq.barrier
vx.map b_kind=4 d=8 n0=3 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=24 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 4 -8 12 -16 20 -24 28 -32 3 -6 9 -12 15 -18 21 -24
#= 0x1010 i8 3 -6 9 -12 15 -18 21 -24
