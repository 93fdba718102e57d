# RUN: heddle check %s
# EXIT: 1
lx.load seg=3 src=0 dst=0x1ffff run=2 n1=1 n2=1 n3=1
lw.load src=8 dst=0 count=2000 n1=1
mx.gemm nred=7 n0=0 n1=1 n2=1 n3=1 n4=1 n5=1
mx.gemm nred=1 x=0x1fff n0=2 xs0=1
vx.map a_kind=7 n0=1 n1=1 n2=1 n3=1
vx.map red=0 nred=2 a_kind=2 fn=6
st.store seg=0 run=1 n1=1 n2=1 n3=1
seq.halt
#= error: bundle 0, word 5: seg is 3, at most 1
#=     lx.load seg=3 src=0 dst=0x1ffff run=2 n1=1 n2=1 n3=1
#= error: bundle 0, word 5: XM bytes from 131071 to 131072, the memory has 0 to 131071
#=     lx.load seg=3 src=0 dst=0x1ffff run=2 n1=1 n2=1 n3=1
#= error: bundle 1, word 13: src 8 and s2 0 must be multiples of 16 bytes
#=     lw.load src=8 dst=0 count=0x7d0 n1=1
#= error: bundle 1, word 13: WM words from 0 to 1999, the memory has 0 to 1023
#=     lw.load src=8 dst=0 count=0x7d0 n1=1
#= error: bundle 2, word 19: nred is 7, at most 6
#=     mx.gemm nred=7 n0=0 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 3, word 28: XM words from 8191 to 8192, the memory has 0 to 8191
#=     mx.gemm nred=1 x=0x1fff n0=2 xs0=1
#= error: bundle 4, word 33: a_kind is 7, at most 6
#=     vx.map a_kind=7 n0=1 n1=1 n2=1 n3=1
#= error: bundle 5, word 38: fn is 6, at most 5
#=     vx.map a_kind=2 nred=2 fn=6
#= error: bundle 5, word 38: nred is 2 and lanes 0, red none wants 0
#=     vx.map a_kind=2 nred=2 fn=6
#= error: bundle 6, word 41: seg is 0, only 1 (arena) may be written
#=     st.store seg=0 run=1 n1=1 n2=1 n3=1
#= test/golden/check/bounds.t: 1 program, 8 bundles, 8 operations: 10 errors, 0 warnings
