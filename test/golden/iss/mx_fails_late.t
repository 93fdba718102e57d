# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# The first store waits for MX, which reads its bank until it leaves WM; so it is MX that fails.
mx.gemm nred=1 x=0 w=0 a=0 n0=1 n1=1 n2=1 n3=1 n4=2000 xs4=0 ws4=1 as4=0 n5=1
st.store seg=1 dst=0x100 src=0 run=64 n1=1 n2=1 n3=1 d1=0 d2=0 d3=0 s1=0 s2=0 s3=0
st.store src=0x7ffffff
seq.halt
#= error 7, on-chip address outside its memory, or misaligned (unit mx) at word 5: mx.gemm nred=1 x=0 w=0 a=0 n0=1 n1=1 n2=1 n3=1 n4=2000 ws4=1 n5=1
