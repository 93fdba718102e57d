# What every unit reads and nothing has written: XM by vx and mx, AM by vx and st, WM, PM, TM.
# RUN: heddle check %s
# EXIT: 1
vx.map a_kind=2 b_kind=4 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 d=0x80 a_scale=1 lo=-128 hi=127
seq.barrier
vx.map a_kind=0 b_kind=4 a=5
seq.barrier
vx.map a_kind=4 b_kind=4 use_bias=1 p=2
seq.barrier
vx.map a_kind=4 b_kind=4 lut=3
seq.barrier
mx.gemm nred=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.barrier
st.store seg=1 mem=1 src=0x100 dst=0x100 run=4 n1=1 n2=1 n3=1
seq.barrier
vx.dw a_kind=2 b_kind=4 alu=0 lut=0 a=0x90 d=0x90 n0=3 n1=1 n2=1 n3=1 sx=1 as0=1 p=7
seq.halt
#= error: bundle 0, word 5: vx reads XM bytes 0, which nothing has written; memory on the chip is undefined at power-up
#=     vx.map a_kind=2 b_kind=4 d=128 n0=4 n1=1 n2=1 n3=1 as0=1 ds0=1 a_scale=1 lo=-128 hi=127
#= error: bundle 2, word 17: vx reads AM words 5, which nothing has written; memory on the chip is undefined at power-up
#=     vx.map b_kind=4 a=5
#= error: bundle 4, word 23: vx reads PM words 2, which nothing has written; memory on the chip is undefined at power-up
#=     vx.map a_kind=4 b_kind=4 use_bias=1 p=2
#= error: bundle 6, word 29: vx reads TM words 2, which nothing has written; memory on the chip is undefined at power-up
#=     vx.map a_kind=4 b_kind=4 lut=3
#= error: bundle 8, word 34: mx reads WM words 0, which nothing has written; memory on the chip is undefined at power-up
#=     mx.gemm nred=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 8, word 34: mx reads XM bytes 0, which nothing has written; memory on the chip is undefined at power-up
#=     mx.gemm nred=1 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
#= error: bundle 10, word 45: st reads AM words 4, which nothing has written; memory on the chip is undefined at power-up
#=     st.store seg=1 mem=1 dst=0x100 src=0x100 run=4 n1=1 n2=1 n3=1
#= error: bundle 12, word 55: vx reads PM words 7, which nothing has written; memory on the chip is undefined at power-up
#=     vx.dw a_kind=2 b_kind=4 sx=1 a=144 d=144 p=7 n0=3 n1=1 n2=1 n3=1 as0=1
#= error: bundle 12, word 55: vx reads XM bytes 2304, which nothing has written; memory on the chip is undefined at power-up
#=     vx.dw a_kind=2 b_kind=4 sx=1 a=144 d=144 p=7 n0=3 n1=1 n2=1 n3=1 as0=1
#= test/golden/check/uninitialised_units.t: 1 program, 14 bundles, 14 operations: 9 errors, 0 warnings
