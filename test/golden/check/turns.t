# RUN: heddle check %s --machine base
# EXIT: 1
# Out of its turn an operation neither waits, nor signals, nor touches memory, and may hold anything: the first five
# bundles are right. Behind them a store reads what no load has written, the one before it being out of its turn.
lx.load wait=9 seg=3 src=0xfffff0 dst=0xfffffff run=64 n2=1 turn=-1 turns=2
lx.load sig=1 seg=1 src=0x100 dst=0 run=64 n1=1 n2=1 n3=1 turn+=1
lx.load sig=1 dst=0 turn=2
st.store wait=1 seg=1 dst=0x1000 src=0 run=64 n1=1 n2=1 n3=1
mx.gemm wait=9 nred=7 turn=5 turns=5
lx.load sig=2 dst=0x400
lx.load sig=3 dst=0x800 turn=1
st.store wait=3 src=0x400
seq.halt
#= error: bundle 7, word 62: st reads XM bytes 1024, which nothing has written; memory on the chip is undefined at power-up
#=     st.store wait=3 src=0x400
#= test/golden/check/turns.t: 1 program, 9 bundles, 9 operations: 1 errors, 0 warnings
