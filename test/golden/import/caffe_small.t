# RUN: heddle opt test/golden/import/models/small.prototxt
#= graph small {
#=   input data f32[1,3,7,7]
#=   const conv.0 f32[2,3,3,3] = #8940016c
#=   const bn.c f32[2] = {0x1p+0, 0x1p+0}
#=   const bn.c_4 f32[2] = {0x0p+0, 0x0p+0}
#=   const bn.0 f32[2] = {0x0p+0, 0x0p+0}
#=   const bn.1 f32[2] = {0x1p+0, 0x1p+0}
#=   const scale.0 f32[1,2,1,1] = {-0x1.15fc48p+0, 0x1.0bac3ep+0}
#=   const scale.1 f32[1,2,1,1] = {-0x1.ed2b74p-3, -0x1.9ef094p-2}
#=   const cut.c i64[1] = {0}
#=   const cut.c_16 i64[1] = {1}
#=   const cut.c_17 i64[1] = {1}
#=   const cut.c_19 i64[1] = {1}
#=   const cut.c_20 i64[1] = {2}
#=   const cut.c_21 i64[1] = {1}
#=   const sum.c f32[] = {-0x1p+1}
#=   const fc.0 f32[4,16] = #a595911b
#=   const fc.1 f32[4] = {-0x1.717c3ep-10, -0x1.632962p-10, -0x1.a853dp-11, -0x1.7c722p-10}
#=   conv f32[1,2,7,7] = conv(data, conv.0) kernel_shape=[3,3] strides=[1,1] pads=[1,1,1,1] dilations=[1,1] group=1
#=   bn f32[1,2,7,7] = batchnorm(conv, bn.c, bn.c_4, bn.0, bn.1) epsilon=0x1.4f8b58p-17
#=   scale f32[1,2,7,7] = mul(bn, scale.0)
#=   scale_12 f32[1,2,7,7] = add(scale, scale.1) @scale_3
#=   relu f32[1,2,7,7] = leakyrelu(scale_12) alpha=0x1p-1
#=   pool f32[1,2,4,4] = avgpool(relu) kernel_shape=[2,2] strides=[2,2] pads=[0,0,0,0] ceil_mode=1 count_include_pad=1
#=   cut f32[1,1,4,4] = slice(pool, cut.c, cut.c_16, cut.c_17)
#=   cut_22 f32[1,1,4,4] = slice(pool, cut.c_19, cut.c_20, cut.c_21) @cut_7
#=   sum f32[1,1,4,4] = mul(cut_22, sum.c)
#=   sum_25 f32[1,1,4,4] = add(cut, sum) @sum_9
#=   prob f32[1,1,4,4] = softmax(sum_25) axis=1
#=   perm f32[1,4,1,4] = transpose(cut) perm=[0,2,1,3]
#=   shape f32[1,8,2] = reshape(perm) shape=[1,8,2]
#=   fc f32[1,16] = reshape(shape) shape=[1,16]
#=   fc_32 f32[1,4] = gemm(fc, fc.0, fc.1) @fc_14 transB=1
#=   fc_33 f32[1,4] = identity(fc_32) @fc_15
#=   output prob
#=   output fc_33
#= }
