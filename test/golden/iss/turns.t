# RUN: heddle exec %s --devices iss,rtl --machine tiny --cycles
# Operations before, in and behind their turns: out of them words stay, and nothing waits, runs or signals. No one
# ever signals 9. A loop of 7 rounds in which LX has rounds 3 to 5 and ST 4 to 6: loads go to XM 32, 40, 48.
#: arena 0x400 i8 1 0 0 0 0 0 0 0  0 1 0 0 0 0 0 0  0 0 1 0 0 0 0 0  0 0 0 1 0 0 0 0
#: arena 0x420 i8 0 0 0 0 1 0 0 0  0 0 0 0 0 1 0 0  0 0 0 0 0 0 1 0  0 0 0 0 0 0 0 1
#: dump 0x1000 80 u8
#: dump 0x1100 32 u8
#: dump 0x1200 32 u8
lx.nop wait=9 sig=3 turn=-3 turns=3
st.nop wait=9 sig=3 turn=-4 turns=3
lx.load sig=3 seg=1 src=0x100 dst=8 run=4 n1=1 n2=1 n3=1
st.store wait=9 seg=1 dst=0x1000 src=0 run=4 n1=1 n2=1 n3=1
loop 7
  { lx.load sig=3 turn+=1 src+=16 dst+=8 ; st.store wait=3 turn+=1 dst+=8 src+=8 }
end
seq.barrier
# Only `turns` changes, the turn being 4: none, it runs. ST's turn is 4 of 5.
lx.load sig=3 turns=0
st.store wait=3 turn+=1 turns=5 dst+=8 src+=8
# Without turns there is no step.
lx.load sig=3 turn_step=1 src=0x180 dst=72
st.store wait=3 turn_step=3 turn=-1 dst+=8 src+=8
# LW: turn 1 of 2, then 2 of 2, which would put other weights there.
lw.load sig=5 seg=1 src=0x400 dst=0 count=1 n1=1 turn=1 turns=2
lw.load sig=5 src=0 turn+=1
# MX: what an operation out of its turn holds need not be legal, here loops of 0 iterations.
mx.gemm wait=9 sig=4 turn=5 turns=5
mx.gemm wait=9 sig=4 turn=-2147483648
seq.barrier
mx.gemm wait=5 sig=4 turn=4 x=8 n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
# VX: vx.dw has turns of its own.
vx.map wait=9 turn=1 turns=1
vx.dw a_kind=2 b_kind=4 sx=1 n0=1 n1=1 n2=1 n3=1 d=18 zp=5 lo=-128 hi=127 a_scale=1
vx.map wait=4 turn=0 b_kind=4 d=16 n0=1 n1=1 n2=1 n3=1 a_scale=1 lo=-128 hi=127
vx.dw wait=9 d=19 turn=-1 turns=2
vx.map d=17
vx.dw turn+=1 zp=6
vx.map wait=9 turn=1 d=18
vx.dw wait=9 turn=2 d=18
# A header alone: the turn of vx.dw is over, vx.map has none.
vx.map turns=0 d=17
vx.dw
seq.barrier
st.store turns=0 dst=0x1100 src=128 run=32
seq.barrier
# The turn moves by its step, before what the next operation changes: 2, 1, 0, -1, -2 + 2; then once more, and no more
# without turns. So the loads to 164, 168, 176 and from 180 on run. ST has one operation a round, its turn is the round.
lx.load turns=0 src=0x600 dst=160 run=32
lx.load turn=2 turns=2 turn_step=-1 src=0x640 run=4
lx.load dst+=4 src+=4
lx.load dst+=4 src+=4
lx.load dst+=4 src+=4
lx.load dst+=4 src+=4 turn+=2
lx.load dst+=4 src+=4 turns=0
lx.load dst+=4 src+=4 turn=9 turn_step=5
lx.load dst+=4 src+=4 turns=10
seq.barrier
st.store turn=-1 turns=4 turn_step=1 dst=0x11f8 src=152 run=8
loop 5
  st.store dst+=8 src+=8
end
seq.barrier
st.store turns=0 run=4 dst=0x1100 src=128
# A barrier behind operations that are left out when nothing else is in work, the last of them late.
lx.load sig=10 src=0x100 dst=0 run=64 turns=0
mx.nop wait=10 turn=0
mx.gemm turn=9
mx.gemm wait=9 sig=4
mx.gemm wait=9 turn=7
seq.halt
#= iss: 1036 cycles, 696 bytes read, 88 bytes written
#= 0x1000 u8 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
#= 0x1010 u8 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
#= 0x1020 u8 48 49 50 51 36 37 38 39 64 65 66 67 44 45 46 47
#= 0x1030 u8 80 81 82 83 52 53 54 55 56 57 58 59 60 61 62 63
#= 0x1040 u8 112 113 114 115 68 69 70 71 128 129 130 131 76 77 78 79
#= 0x1100 u8 112 113 114 115 0 0 0 0 112 113 114 115 0 0 0 0
#= 0x1110 u8 5 5 5 5 5 5 5 5 6 6 6 6 6 6 6 6
#= 0x1200 u8 0 1 2 3 68 69 70 71 72 73 74 75 12 13 14 15
#= 0x1210 u8 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
#= rtl: 1036 cycles, 696 bytes read, 88 bytes written
