# Columns of lx and of vx alternate, so they never meet: no race, though their ranges overlap.
# RUN: heddle check %s
lx.load seg=1 sig=0 src=0 dst=0 run=32 n1=1 n2=1 n3=1
vx.map wait=0 a_kind=2 b_kind=4 n0=4 n1=1 n2=1 n3=1 as0=0 d=0x10 ds0=2 a_scale=1 lo=-128 hi=127
lx.load src=0x100 dst=0x110 run=16 n1=4 n2=1 s1=16 d1=32
seq.halt
#= test/golden/check/interleaved.t: 1 program, 4 bundles, 4 operations: 0 errors, 0 warnings
