# Races in DRAM: st writes what lw and lx read, lx reads what st writes (race_raw_arena.t has the other order of lx).
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 src=0 dst=0 run=0x1000 n1=1 n2=1 n3=1
seq.barrier
st.store seg=1 src=0 dst=0x4000 run=64 n1=1 n2=1 n3=1
lw.load seg=1 src=0x4000 dst=0 count=1 n1=1
seq.barrier
lx.load src=0x5000 dst=0x800 run=64
st.store dst=0x503f run=1
seq.barrier
lw.load seg=1 src=0x6000 mem=1 count=1
st.store dst=0x607f run=1
seq.halt
#= error: bundle 3, word 23: race, read after write: lw reads arena bytes 16384, which st.store of bundle 2, word 15, writes; no semaphore puts them in order
#=     lw.load seg=1 src=0x4000 dst=0 count=1 n1=1
#= error: bundle 6, word 37: race, write after read: st writes arena bytes 20543, which lx.load of bundle 5, word 32, reads; no semaphore puts them in order
#=     st.store dst=0x503f run=1
#= error: bundle 9, word 48: race, write after read: st writes arena bytes 24703, which lw.load of bundle 8, word 43, reads; no semaphore puts them in order
#=     st.store dst=0x607f run=1
#= test/golden/check/races_arena.t: 1 program, 11 bundles, 11 operations: 3 errors, 0 warnings
