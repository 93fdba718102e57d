# RUN: heddle compile test/models/digits --machine tiny --dump legalize --select '#res_add, qgemm'
# RUN: heddle compile test/models/digits --machine tiny --dump program --select '#pool' | cut -c1-40
#= res_add_q i8[1,16,8,8] = qadd(res_b_q, conv1_q) @res_add to="i8" y_zp=-128 lo=-128 hi=127 a_zp=18 b_zp=-128 a_scale=0x1.1c372p+1 b_scale=0x1.3dc0f6p-4
#= dense_q i8[1,10] = qgemm(flatten_f.q, dense_w, dense_b_dq.i32, dense_w.scale) @dense to="i8" y_zp=35 lo=-128 hi=127 x_zp=-128
#= # machine 0xeca17a07, 736 words
#= vx.map @5 a_kind=2 b_kind=4 d_kind=1 a=0
#= vx.map @5 a_kind=2 b_kind=1 alu=1 d_kind
#= vx.map @5 a=32
#= vx.map @5 a=48
#= vx.map @5 a_kind=1 b_kind=1 alu=1 d_kind
#= vx.map @5 b=0x2e4 n0=4 n1=1
#= vx.map @5 sig=5 a_kind=1 b_kind=4 b=0 d=
