# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Functions at their edges: exp, 1/x, 1/sqrt(x), tanh of zeros, infinities, what overflows, a subnormal (counts as 0), below 0.
#: arena 0x100 f32 0 -0 inf -inf 100 1e-40 -1 200
#: dump 0x1000 8 f32
#: dump 0x1020 8 f32
#: dump 0x1040 8 f32
#: dump 0x1060 8 f32
lx.load mem=1 seg=1 src=0x100 dst=64 run=32 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=1 b_kind=4 fn=1 d_kind=1 a=2 d=4 n0=1 n1=1 n2=1 n3=1 a_scale=1
vx.map a_kind=1 b_kind=4 fn=2 d_kind=1 a=2 d=5
vx.map a_kind=1 b_kind=4 fn=3 d_kind=1 a=2 d=6
vx.map a_kind=1 b_kind=4 fn=4 d_kind=1 a=2 d=7
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=128 run=128 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 f32 1 1 inf 0 inf 1 0.36787945 inf
#= 0x1020 f32 inf -inf 0 -0 0.00999999978 inf -1 0.00499999989
#= 0x1040 f32 inf inf 0 nan 0.100000001 inf nan 0.0707106739
#= 0x1060 f32 0 -0 1 -1 1 0 -0.761594176 1
