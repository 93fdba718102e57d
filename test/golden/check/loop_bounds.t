# RUN: heddle check %s --machine tiny
# EXIT: 1
# The loop runs once too often: round 129 of 32 KiB in steps of 256.
loop 129
  lx.load seg=1 src+=256 dst+=256 run=256 n1=1 n2=1 n3=1
end
seq.halt
#= error: bundle 127, word 1275: XM bytes from 32768 to 33023, the memory has 0 to 32767
#=     lx.load seg=1 src+=256 dst+=256 run=0x100 n1=1 n2=1 n3=1
#= error: bundle 128, word 1285: XM bytes from 33024 to 33279, the memory has 0 to 32767
#=     lx.load seg=1 src+=256 dst+=256 run=0x100 n1=1 n2=1 n3=1
#= test/golden/check/loop_bounds.t: 1 program, 130 bundles, 130 operations: 2 errors, 0 warnings
