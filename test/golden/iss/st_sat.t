# RUN: heddle exec %s --devices iss,rtl --machine tiny
# int32 of AM saturated to int8, uint8 and int16 on the way to DRAM; three strided dimensions, odd places and
# lengths that begin and end within a chunk; runs that join.
#: arena 0x100 i32 1 -2 127 128 -128 -129 255 256 -1 0 32767 32768 -32768 -32769 2147483647 -2147483648
#: arena 0x1000 i8 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6 -6
#: dump 0x1000 20 i8
#: dump 0x1101 16 u8
#: dump 0x1203 32 u8
#: dump 0x1301 7 i8
#: dump 0x1400 24 i8
lx.load mem=1 seg=1 src=0x100 dst=64 run=64 n1=1 n2=1 n3=1
seq.barrier
st.store mem=1 sat=1 seg=1 dst=0x1001 src=64 run=16 n1=1 n2=1 n3=1
st.store mem=1 sat=2 seg=1 dst=0x1101 src=64 run=1 n1=16 n2=1 n3=1 d1=1 s1=4
st.store mem=1 sat=3 seg=1 dst=0x1203 src=64 run=4 n1=8 n2=1 n3=1 d1=4 s1=8
st.store mem=1 sat=1 seg=1 dst=0x1301 src=76 run=7 n1=1 n2=1 n3=1
st.store mem=1 sat=1 seg=1 dst=0x1400 src=120 run=2 n1=2 n2=2 n3=2 d1=3 d2=6 d3=12 s1=-8 s2=-16 s3=-32
seq.halt
#= 0x1000 i8 -6 1 -2 127 127 -128 -128 127 127 -1 0 127 127 -128 -128 127
#= 0x1010 i8 -128 -6 -6 -6
#= 0x1101 u8 1 0 127 128 0 0 255 255 0 0 255 255 0 0 255 0
#= 0x1203 u8 1 0 254 255 127 0 128 0 128 255 127 255 255 0 0 1
#= 0x1213 u8 255 255 0 0 255 127 255 127 0 128 0 128 255 127 0 128
#= 0x1301 i8 127 -128 -128 127 127 -1 0
#= 0x1400 i8 127 -128 2 -128 -128 5 127 127 8 -1 0 11 127 127 14 -128
#= 0x1410 i8 -128 17 127 127 20 1 -2 23
