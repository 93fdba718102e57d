# The signal stands behind more operations than mx's queue holds: issue never reaches it.
# RUN: heddle check --set queue_ops=4 %s
# EXIT: 1
mx.gemm wait=0 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
mx.nop
mx.nop
mx.nop
mx.nop
mx.nop
lx.nop sig=0
seq.halt
#= error: bundle 0, word 5: deadlock: mx waits for semaphore 0, which no operation that can run signals; 4 more in its queue
#=     mx.gemm wait=0 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 5, word 22: deadlock: issue stands here, the queue of mx is full (4 operations)
#=     mx.nop
#= test/golden/check/queue_full.t: 1 program, 8 bundles, 8 operations: 2 errors, 0 warnings
