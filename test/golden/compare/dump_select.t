# RUN: heddle compile test/models/digits --machine tiny --dump legalize --select '#res_add, qgemm'
# RUN: heddle compile test/models/digits --machine tiny --dump program --select '#pool' | awk '!/^#/ { n++; if (/tag=/ && !/tag=5 /) bad++ } END { print (n > 0), bad + 0 }'
#= res_add_q i8[1,16,8,8] = qadd(res_b_q, conv1_q) @res_add to="i8" y_zp=-128 lo=-128 hi=127 a_zp=18 b_zp=-128 a_scale=0x1.1c372p+1 b_scale=0x1.3dc0f6p-4
#= dense_q i8[1,10] = qgemm(flatten_f.q, dense_w, dense_b_dq.i32, dense_w.scale) @dense to="i8" y_zp=35 lo=-128 hi=127 x_zp=-128
#= 1 0
