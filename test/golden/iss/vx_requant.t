# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Requantisation of AM sums by PM: (sum + bias) * scale + 3, clamped to -20..100, per lane.
#: arena 0x100 i8 1 2 3 4 5 6 7 8
#: arena 0x400 i8 10 0 0 0 0 0 0 0  0 10 0 0 0 0 0 0  0 0 10 0 0 0 0 0  0 0 0 10 0 0 0 0
#: arena 0x420 i8 0 0 0 0 10 0 0 0  0 0 0 0 0 10 0 0  0 0 0 0 0 0 10 0  0 0 0 0 0 0 0 10
#: arena 0x800 i32 5
#: arena 0x804 f32 0.5
#: arena 0x808 i32 -20
#: arena 0x80c f32 1
#: arena 0x810 i32 0
#: arena 0x814 f32 -1
#: arena 0x818 i32 1000000
#: arena 0x81c f32 1
#: arena 0x820 i32 0
#: arena 0x824 f32 0.25
#: arena 0x828 i32 1
#: arena 0x82c f32 0.1
#: arena 0x830 i32 -70
#: arena 0x834 f32 7
#: arena 0x838 i32 -2147483648
#: arena 0x83c f32 1e-9
#: dump 0x1000 8 i8
lx.load seg=1 src=0x100 dst=0 run=8 n1=1 n2=1 n3=1
lw.load seg=1 src=0x400 dst=0 count=1 n1=1
lw.load seg=1 mem=1 src=0x800 dst=5
seq.barrier
mx.gemm n0=1 n1=1 n2=1 n3=1 n4=1 n5=1
seq.barrier
vx.map b_kind=4 use_bias=1 scale_pm=1 p=5 d=8 n0=1 n1=1 n2=1 n3=1 lo=-20 hi=100 zp=3
seq.barrier
st.store seg=1 dst=0x1000 src=64 run=8 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 i8 11 3 -20 100 15 9 3 1
