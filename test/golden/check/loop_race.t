# RUN: heddle check %s
# EXIT: 1
# In round 3 the load overwrites what the store of round 1 may still read: two buffers, no semaphore back.
loop 3
  lx.load sig=0 seg=1 src+=256 dst+=256 run=256 n1=1 n2=1 n3=1
  st.store wait=0 seg=1 dst+=0x1000 src+=256 run=256 n1=1 n2=1 n3=1
  lx.load sig=0 seg=1 src+=256 dst+=-256 run=256 n1=1 n2=1 n3=1
  st.store wait=0 seg=1 dst+=0x1000 src+=-256 run=256 n1=1 n2=1 n3=1
end
seq.halt
#= error: bundle 4, word 49: race, write after read: lx writes XM bytes 256 to 319, which st.store of bundle 1, word 16, reads; no semaphore puts them in order
#=     lx.load sig=0 seg=1 src+=256 dst+=256 run=0x100 n1=1 n2=1 n3=1
#= error: bundle 6, word 71: race, write after read: lx writes XM bytes 0 to 63, which st.store of bundle 3, word 38, reads; no semaphore puts them in order
#=     lx.load sig=0 seg=1 src+=256 dst+=-256 run=0x100 n1=1 n2=1 n3=1
#= error: bundle 8, word 93: race, write after read: lx writes XM bytes 256 to 319, which st.store of bundle 5, word 60, reads; no semaphore puts them in order
#=     lx.load sig=0 seg=1 src+=256 dst+=256 run=0x100 n1=1 n2=1 n3=1
#= error: bundle 10, word 115: race, write after read: lx writes XM bytes 0 to 63, which st.store of bundle 7, word 82, reads; no semaphore puts them in order
#=     lx.load sig=0 seg=1 src+=256 dst+=-256 run=0x100 n1=1 n2=1 n3=1
#= test/golden/check/loop_race.t: 1 program, 13 bundles, 13 operations: 4 errors, 0 warnings
