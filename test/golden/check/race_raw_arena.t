# lx loads what st stores: in DRAM, too, nothing but a semaphore orders two units.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=64 n1=1 n2=1 n3=1
st.store wait=0 seg=1 src=0 dst=0x1000 run=64 n1=1 n2=1 n3=1
lx.load src=0x1020 dst=0x100 run=16
seq.halt
#= error: bundle 2, word 23: race, read after write: lx reads arena bytes 4128 to 4143, which st.store of bundle 1, word 14, writes; no semaphore puts them in order
#=     lx.load src=0x1020 dst=0x100 run=16
#= test/golden/check/race_raw_arena.t: 1 program, 4 bundles, 4 operations: 1 errors, 0 warnings
