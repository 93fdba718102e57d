# RUN: heddle exec %s --devices iss,rtl --machine tiny
# Functions to the bit, as binary32: exp, 1/x, 1/sqrt(x), tanh, sigmoid; rounded to nearest even.
#: arena 0x100 f32 0.3 -1.7 2.9 0.011 -0.77 5.3 1e-3 33.3
#: dump 0x1000 40 f32
lx.load mem=1 seg=1 src=0x100 dst=0 run=32 n1=1 n2=1 n3=1
seq.barrier
vx.map a_kind=1 b_kind=4 fn=1 d_kind=1 a=0 d=1 n0=1 n1=1 n2=1 n3=1 a_scale=1
vx.map a_kind=1 b_kind=4 fn=2 d_kind=1 d=2
vx.map a_kind=1 b_kind=4 fn=3 d_kind=1 d=3
vx.map a_kind=1 b_kind=4 fn=4 d_kind=1 d=4
vx.map a_kind=1 b_kind=4 fn=5 d_kind=1 d=5
seq.barrier
st.store mem=1 seg=1 dst=0x1000 src=32 run=160 n1=1 n2=1 n3=1
seq.halt
#= 0x1000 f32 1.34985876 0.182683513 18.1741467 1.01106071 0.463013083 200.336853 1.00100052 2.89738292e+14 3.33333325 -0.588235259 0.344827563 90.9090881 -1.29870129 0.188679233 999.999939 0.0300300308
#= 0x1040 f32 1.82574177 nan 0.587220192 9.53462601 nan 0.434372216 31.622776 0.173291743 0.291312665 -0.935409069 0.993963182 0.0109994859 -0.646929443 0.999950171 0.00100001693 1
#= 0x1080 f32 0.574442506 0.154465258 0.947846472 0.502749979 0.316479117 0.995033205 0.500250041 1
