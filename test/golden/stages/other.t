# A plan that was changed by hand: tiles of 8 rows, where the search took 2.
# RUN: heddle opt --stage plan --plan test/golden/stages/other.plan --dump ops --machine tiny test/golden/stages/residual.t
#= step 0 operations=9 estimate=599
#= # layer 0 a
#= lx.load @0 signal=0 seg=arena run=512 n1=1 n2=1 n3=1 ys=1 s2=64 d2=64 row_bytes=64 rows=8
#= lw.load @0 signal=1 count=1 n1=1
#= mx.gemm @0 wait=0,1 signal=3 nred=3 a=512 n0=1 n1=1 n2=1 n3=8 xs3=1 as3=1 n4=8 xs4=8 as4=8 n5=1
#= lw.load @0 signal=2 mem=pm src=64 count=1 n1=1
#= vx.map @0 wait=2,3 b_kind=zero use_bias=1 scale_pm=1 a=512 d=512 n0=64 n1=1 n2=1 n3=1 as0=1 as1=8 ds0=1 ds2=1 ps2=1 lo=-128 hi=127
#= # layer 1 y
#= vx.map @1 signal=4 a_kind=xm_int8 b_kind=xm_int8 alu=add b=512 d=1024 n0=8 n1=4 n2=1 n3=1 as0=1 as1=8 as2=1 bs0=1 bs1=8 bs2=1 ds0=1 ds1=8 ds2=1 a_scale=0x1p-1 b_scale=0x1p-1 lo=-128 hi=127
#= st.store @1 wait=4 seg=arena dst=512 src=8192 run=256 n1=1 n2=1 n3=1 d1=8 d2=64 s1=8 s2=64
#= vx.map @1 signal=4 a_kind=xm_int8 b_kind=xm_int8 alu=add a=32 b=544 d=1056 n0=8 n1=4 n2=1 n3=1 as0=1 as1=8 as2=1 bs0=1 bs1=8 bs2=1 ds0=1 ds1=8 ds2=1 a_scale=0x1p-1 b_scale=0x1p-1 lo=-128 hi=127
#= st.store @1 wait=4 seg=arena dst=768 src=8448 run=256 n1=1 n2=1 n3=1 d1=8 d2=64 s1=8 s2=64
