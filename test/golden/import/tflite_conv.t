# RUN: heddle opt test/golden/import/models/conv.tflite
#= graph main {
#=   input x i8[1,4,4,3]
#=   const y.c f32[] = {0x1p-1}
#=   const y i8[] = {-3}
#=   const y_8 i8[2,3,3,3] = #c21c3c5c
#=   const y.c_9 f32[2] = {0x1p-2, 0x1p-3}
#=   const y_11 i8[2] = {0, 0}
#=   const b i32[2] = {5, -9}
#=   const y.c_14 f32[2] = {0x1p-3, 0x1p-4}
#=   const y.c_15 i32[2] = {0, 0}
#=   const y.c_20 f32[] = {0x1p+1}
#=   const y_22 i8[] = {-128}
#=   const m.c f32[] = {0x1p+1}
#=   const m_26 i8[] = {-128}
#=   const m.c_29 i64[2] = {1, 2}
#=   const m.c_31 f32[] = {0x1p+1}
#=   const m_33 i8[] = {-128}
#=   y_5 f32[1,4,4,3] = dequantize(x, y.c, y) @y_1
#=   y_6 f32[1,3,4,4] = transpose(y_5) @y_2 perm=[0,3,1,2]
#=   y_12 f32[2,3,3,3] = dequantize(y_8, y.c_9, y_11) @y_5 axis=0
#=   y_16 f32[2] = dequantize(b, y.c_14, y.c_15) @y_6 axis=0
#=   y_17 f32[1,2,4,4] = conv(y_6, y_12, y_16) @y_7 strides=[1,1] group=1 kernel_shape=[3,3] dilations=[1,1] pads=[1,1,1,1]
#=   y_18 f32[1,2,4,4] = relu(y_17) @y_8
#=   y_19 f32[1,4,4,2] = transpose(y_18) @y_9 perm=[0,2,3,1]
#=   y_23 i8[1,4,4,2] = quantize(y_19, y.c_20, y_22) @y_11
#=   m_27 f32[1,4,4,2] = dequantize(y_23, m.c, m_26) @m_13
#=   m_30 f32[1,2] = reducemean(m_27, m.c_29) @m_14 keepdims=0
#=   m_34 i8[1,2] = quantize(m_30, m.c_31, m_33) @m_16
#=   m i8[1,2] = identity(m_34) @m_17
#=   output m
#= }
