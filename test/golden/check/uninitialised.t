# The load leaves a gap between its rows, and nobody has loaded weights or summed anything.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=48 n1=1 n2=2 n3=1 s2=64 d2=64
st.store wait=0 seg=1 src=0 dst=0x1000 run=128 n1=1 n2=1 n3=1
mx.gemm nred=1 accumulate=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.halt
#= error: bundle 1, word 16: st reads XM bytes 48, which nothing has written; memory on the chip is undefined at power-up
#=     st.store wait=0 seg=1 dst=0x1000 src=0 run=128 n1=1 n2=1 n3=1
#= error: bundle 2, word 25: mx reads AM words 0, which nothing has written; memory on the chip is undefined at power-up
#=     mx.gemm nred=1 accumulate=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 2, word 25: mx reads WM words 0, which nothing has written; memory on the chip is undefined at power-up
#=     mx.gemm nred=1 accumulate=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 2, word 25: race, read after write: mx reads XM bytes 0 to 15, which lx.load of bundle 0, word 5, writes; no semaphore puts them in order
#=     mx.gemm nred=1 accumulate=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= test/golden/check/uninitialised.t: 1 program, 4 bundles, 4 operations: 4 errors, 0 warnings
