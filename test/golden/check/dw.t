# RUN: heddle check %s
# EXIT: 1
vx.dw a_kind=2 b_kind=4 n0=3 n1=10 n2=3 n3=2 sx=2 as0=1 as2=21 as3=63 d=0x100 ds1=1 ds3=10 ps3=3
vx.dw a=0x1f90 d=0x1fed p=0xfb
vx.dw n0=4 n1=1 n2=5 n3=1 sx=0 a_kind=4 b_kind=4 d_kind=2 a=0 d=0 p=0
vx.dw n0=3 n1=1 n2=3 n3=0 sx=1 a_kind=3 b_kind=4 a_imm=-256 alu=1
vx.dw n0=1 n1=2 n2=1 n3=1 sx=2 a_kind=2 b_kind=3 a_imm=0 alu=0
vx.dw n0=2 n1=5 n2=1 n3=3 sx=1 a_kind=2 b_kind=0 b=0x7ef bs1=2 bs3=5 ds3=5 alu=0
seq.halt
#= error: bundle 1, word 16: operand A from 8080 to 8205, the memory has 0 to 8191
#=     vx.dw a=0x1f90 d=0x1fed p=251
#= error: bundle 1, word 16: destination from 8173 to 8192, the memory has 0 to 8191
#=     vx.dw a=0x1f90 d=0x1fed p=251
#= error: bundle 1, word 16: PM words from 251 to 256, the memory has 0 to 255
#=     vx.dw a=0x1f90 d=0x1fed p=251
#= error: bundle 2, word 21: n0 is 4, at most 3
#=     vx.dw a_kind=4 b_kind=4 d_kind=2 a=0 d=0 p=0 n0=4 n1=1 n2=5 n3=1
#= error: bundle 2, word 21: n2 is 5, at most 4
#=     vx.dw a_kind=4 b_kind=4 d_kind=2 a=0 d=0 p=0 n0=4 n1=1 n2=5 n3=1
#= error: bundle 2, word 21: sx is 0, 1 to 3
#=     vx.dw a_kind=4 b_kind=4 d_kind=2 a=0 d=0 p=0 n0=4 n1=1 n2=5 n3=1
#= error: bundle 2, word 21: a_kind is 4, 2 or 3 (bytes of XM)
#=     vx.dw a_kind=4 b_kind=4 d_kind=2 a=0 d=0 p=0 n0=4 n1=1 n2=5 n3=1
#= error: bundle 3, word 29: alu, red, nred and lanes must be 0
#=     vx.dw a_kind=3 b_kind=4 alu=1 sx=1 n0=3 n1=1 n2=3 a_imm=-256
#= error: bundle 3, word 29: a_imm is -256, -255 to 255
#=     vx.dw a_kind=3 b_kind=4 alu=1 sx=1 n0=3 n1=1 n2=3 a_imm=-256
#= error: bundle 3, word 29: n3 is 0; a loop runs at least once
#=     vx.dw a_kind=3 b_kind=4 alu=1 sx=1 n0=3 n1=1 n2=3 a_imm=-256
#= error: bundle 4, word 35: b_kind is 3: 4, 0 for sums that go on, or for pairs of columns as a_kind, with sx 2 and n0 2 or 3
#=     vx.dw a_kind=2 b_kind=3 sx=2 n0=1 n1=2 n2=1 n3=1 a_imm=0
#= error: bundle 5, word 41: operand B from 2031 to 2049, the memory has 0 to 2047
#=     vx.dw a_kind=2 sx=1 b=0x7ef n0=2 n1=5 n2=1 n3=3 bs1=2 bs3=5 ds3=5
#= test/golden/check/dw.t: 1 program, 7 bundles, 7 operations: 12 errors, 0 warnings
