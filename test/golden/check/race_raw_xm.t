# st reads what vx writes; the token that said so is missing.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=256 n1=1 n2=1 n3=1
vx.map wait=0 a_kind=2 b_kind=4 n0=16 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x100 a_scale=1 lo=-128 hi=127
st.store seg=1 src=0x10f0 dst=0x1000 run=32 n1=1 n2=1 n3=1
seq.halt
#= error: bundle 2, word 25: race, read after write: st reads XM bytes 4336 to 4351, which vx.map of bundle 1, word 14, writes; no semaphore puts them in order
#=     st.store seg=1 dst=0x1000 src=0x10f0 run=32 n1=1 n2=1 n3=1
#= error: bundle 2, word 25: st reads XM bytes 4352, which nothing has written; memory on the chip is undefined at power-up
#=     st.store seg=1 dst=0x1000 src=0x10f0 run=32 n1=1 n2=1 n3=1
#= test/golden/check/race_raw_xm.t: 1 program, 4 bundles, 4 operations: 2 errors, 0 warnings
