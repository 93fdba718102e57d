# vx takes the token of the first load when it wants the second: tokens of one unit come in order.
# RUN: heddle check %s
# EXIT: 1
lx.load seg=1 sig=0 src=0 dst=0 run=64 n1=1 n2=1 n3=1
lx.load sig=0 src=64 dst=64
vx.map wait=0 a_kind=2 b_kind=4 n0=4 n1=1 n2=1 n3=1 a=4 as0=1 ds0=1 d=0x10 a_scale=1 hi=127
vx.map wait=0 a=0 d=0x20
seq.halt
#= error: bundle 2, word 19: race, read after write: vx reads XM bytes 64 to 127, which lx.load of bundle 1, word 14, writes; no semaphore puts them in order
#=     vx.map wait=0 a_kind=2 b_kind=4 a=4 d=16 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 hi=127
#= test/golden/check/race_one_token_late.t: 1 program, 5 bundles, 5 operations: 1 errors, 0 warnings
