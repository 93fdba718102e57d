# Bits that no field has are refused, with what they are kept for.
# RUN: heddle check %s
# EXIT: 1
mx.gemm word1=0x21 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
mx.gemm word1=0x400
vx.nop word1=0x80000000 word0=0x10000
seq.halt
#= error: bundle 0, word 5: word 1 has bits 0x20, want 0: no field has them (kept for: activations of 16 bits: width of the elements of XM)
#=     mx.gemm word1=0x00000021 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 1, word 14: word 1 has bits 0x400, want 0: no field has them (kept for: weights of 4 and 2 bits: width, and how many words share a scale)
#=     mx.gemm word1=0x00000400
#= error: bundle 2, word 17: word 0 has bits 0x10000, want 0: no field has them (kept for: nothing yet)
#=     vx.nop word0=0x00010000 word1=0x80000000
#= error: bundle 2, word 17: word 1 has bits 0x80000000, want 0: no field has them (kept for: activations of 16 bits: kinds of operands and results)
#=     vx.nop word0=0x00010000 word1=0x80000000
#= test/golden/check/room.t: 1 program, 4 bundles, 4 operations: 4 errors, 0 warnings
