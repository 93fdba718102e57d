# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Two blocks of 8 x 8 bytes, transposed: byte j of vector i of a block goes to byte i of vector j.
#: dump 0x1000 128 u8
lx.load seg=1 src=0 dst=0 run=128 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=3 b_kind=4 d_kind=3 d=16 n0=8 n1=2 n2=1 n3=1 as0=1 as1=8 ds0=1 ds1=8 a_scale=1 lo=0 hi=255
seq.barrier
st.store seg=1 dst=0x1000 src=128 run=128 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 u8 0 8 16 24 32 40 48 56 1 9 17 25 33 41 49 57
#= 0x1010 u8 2 10 18 26 34 42 50 58 3 11 19 27 35 43 51 59
#= 0x1020 u8 4 12 20 28 36 44 52 60 5 13 21 29 37 45 53 61
#= 0x1030 u8 6 14 22 30 38 46 54 62 7 15 23 31 39 47 55 63
#= 0x1040 u8 64 72 80 88 96 104 112 120 65 73 81 89 97 105 113 121
#= 0x1050 u8 66 74 82 90 98 106 114 122 67 75 83 91 99 107 115 123
#= 0x1060 u8 68 76 84 92 100 108 116 124 69 77 85 93 101 109 117 125
#= 0x1070 u8 70 78 86 94 102 110 118 126 71 79 87 95 103 111 119 127
