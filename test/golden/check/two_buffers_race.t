# RUN: heddle check %s
# EXIT: 1
# A load overwrites what the store two rounds before may still read: two buffers, no semaphore back.
lx.load sig=0 src=0x100 dst=256 seg=1 run=256 n1=1 n2=1 n3=1
st.store wait=0 dst=0x1000 src=256 seg=1 run=256 n1=1 n2=1 n3=1
lx.load sig=0 src=0x200 dst=0
st.store wait=0 dst=0x2000 src=0
lx.load sig=0 src=0x300 dst=256
st.store wait=0 dst=0x3000 src=256
lx.load sig=0 src=0x400 dst=0
st.store wait=0 dst=0x4000 src=0
seq.halt
#= error: bundle 4, word 33: race, write after read: lx writes XM bytes 256 to 319, which st.store of bundle 1, word 14, reads; no semaphore puts them in order
#=     lx.load sig=0 src=0x300 dst=0x100
#= error: bundle 6, word 43: race, write after read: lx writes XM bytes 0 to 63, which st.store of bundle 3, word 28, reads; no semaphore puts them in order
#=     lx.load sig=0 src=0x400 dst=0
#= test/golden/check/two_buffers_race.t: 1 program, 9 bundles, 9 operations: 2 errors, 0 warnings
