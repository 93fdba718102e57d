# RUN: heddle check %s
# EXIT: 1
lx.load wait=3 sig=1 src=0x400 dst=0 run=64 n1=1 n2=14 n3=1 ys=1
mx.gemm wait=1 n0=9 xs0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.halt
#= error: bundle 0, word 5: deadlock: lx waits for semaphore 3, which no operation that can run signals; 0 more in its queue
#=     lx.load wait=3 sig=1 src=0x400 dst=0 run=64 n1=1 n2=14 n3=1 ys=1
#= error: bundle 1, word 14: deadlock: mx waits for semaphore 1, which no operation that can run signals; 0 more in its queue
#=     mx.gemm wait=1 n0=9 xs0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 2, word 23: deadlock: the sequencer never gets past this operation
#=     seq.halt
#= test/golden/check/deadlock.t: 1 program, 3 bundles, 3 operations: 3 errors, 0 warnings
