# RUN: heddle check %s
# EXIT: 1
# The load that would signal is out of its turn; so is the one that would wait for 9.
lx.load wait=9 sig=1 seg=1 src=0x100 dst=0 run=64 n1=1 n2=1 n3=1 turn=1 turns=1
st.store wait=1 seg=1 dst=0x1000 src=0 run=64 n1=1 n2=1 n3=1
seq.halt
#= error: bundle 1, word 18: deadlock: st waits for semaphore 1, which no operation that can run signals; 0 more in its queue
#=     st.store wait=1 seg=1 dst=0x1000 src=0 run=64 n1=1 n2=1 n3=1
#= error: bundle 2, word 28: deadlock: the sequencer never gets past this operation
#=     seq.halt
#= test/golden/check/turns_deadlock.t: 1 program, 3 bundles, 3 operations: 2 errors, 0 warnings
