# RUN: heddle exec %s --devices iss,rtl --machine tiny
# EXIT: 1
# LX waits for MX, MX for LX. The report names both operations; nothing was stored.
#: dump 0x1000 4 u8
lx.load tag=3 wait=7 sig=8 seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
mx.gemm tag=4 wait=8 sig=7 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
st.store wait=9 seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
seq.barrier
seq.halt
#= error 9, no progress: deadlock, or memory that does not answer (watchdog 20000). Units that have work:
#=   seq: 0 queued, works on layer 0; next is word 36: seq.barrier
#=   lx: 0 queued, waits on semaphore 7 (is 0); next is word 5: lx.load wait=7 sig=8 tag=3 seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
#=   mx: 0 queued, waits on semaphore 8 (is 0); next is word 16: mx.gemm wait=8 sig=7 tag=4 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#=   st: 0 queued, waits on semaphore 9 (is 0); next is word 27: st.store wait=9 seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
#= 0x1000 u8 0 1 2 3
