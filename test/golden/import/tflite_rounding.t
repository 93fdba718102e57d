# RUN: heddle opt --rounding tflite test/golden/import/models/conv.tflite
#= graph main {
#=   input x i8[1,4,4,3]
#=   const y_4 i8[2,3,3,3] = #c21c3c5c
#=   const y.c i8[] = {-3}
#=   const y.c_6 i8[] = {0}
#=   const y.c_10 i64[2] = {5, -9}
#=   const y.c_11 i64[2] = {1073741824, 1073741824}
#=   const y.c_12 i64[2] = {8589934592, 17179869184}
#=   const y.c_13 i64[2] = {34, 35}
#=   const m.c i64[2] = {1, 2}
#=   y i8[1,3,4,4] = transpose(x) perm=[0,3,1,2]
#=   y_7 i32[1,2,4,4] = convinteger(y, y_4, y.c, y.c_6) @y_2 rounding="tflite" strides=[1,1] group=1 kernel_shape=[3,3] dilations=[1,1] pads=[1,1,1,1]
#=   y_8 i32[1,4,4,2] = transpose(y_7) @y_3 perm=[0,2,3,1]
#=   y_14 i8[1,4,4,2] = expression(y_8, y.c_10, y.c_11, y.c_12, y.c_13) @y_4 expression="(x: [...,C], b: i64[C], m: i64[C], r: i64[C], s: i64[C], zp: int, lo: int, hi: int) -> y\x0ay[...,c] = i8(clamp((((i64(x[...,c]) + b[c])*m[c] + r[c]) >> s[c]) + zp, lo, hi))" rounding="tflite" zp=-128 lo=-128 hi=127
#=   m_15 i64[1,4,4,2] = cast(y_14) @m to="i64"
#=   m_18 i64[1,2] = reducesum(m_15, m.c) @m_6 keepdims=0
#=   m_19 i8[1,2] = expression(m_18) @m_7 expression="(x: [...], b: int, m: int, l: int, s: int, k: int, zp: int, lo: int, hi: int) -> y\x0ap[...] = i64(i32((i64(x[...]) - b) << l))*m\x0ah[...] = (p[...] + select(p[...] >= 0, 1073741824, -1073741823))/2147483648\x0ay[...] = i8(clamp((h[...] >> s) + select((h[...] & k) > (k >> 1) + select(h[...] < 0, 1, 0), 1, 0) + zp, lo, hi))" rounding="tflite" zp=-128 lo=-128 hi=127 b=-2048 m=1073741824 l=0 s=3 k=7
#=   m i8[1,2] = identity(m_19) @m_8
#=   output m
#= }
