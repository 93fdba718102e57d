# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=3 src=0 dst=0 run=64 n1=1 n2=1 n3=1
seq.barrier
st.store seg=1 src=0 dst=0x1000 run=64 n1=1 n2=1 n3=1
seq.halt
#= error: semaphore 3 holds 1 token at the end: it is signalled more often than waited on
#= test/golden/check/left_over.t: 1 program, 4 bundles, 4 operations: 1 errors, 0 warnings
