# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Byte tables: 0 and 1 of TM are 256 bytes of the arena from 0x80 and 0x180 on; a byte b of the arena's pattern
# becomes table[b]. The second operation scales first, the third has no table.
#: dump 0x1000 24 u8
lx.load seg=1 src=0x10 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 mem=2 src=0x80 dst=0 count=2 n1=1
seq.barrier
vx.map a_kind=3 b_kind=4 lut=1 d=8 n0=1 n1=1 n2=1 n3=1 a_scale=1 lo=0 hi=255
vx.map a_kind=3 b_kind=4 lut=2 d=9 a_scale=0.5 zp=100
vx.map a_kind=3 b_kind=4 lut=0 d=10 a_scale=1 zp=0
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=24 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 144 145 146 147 148 149 150 151 236 236 237 238 238 238 239 240
#= 0x1010 u8 16 17 18 19 20 21 22 23
