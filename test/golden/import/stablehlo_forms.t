# RUN: heddle opt test/golden/import/models/forms.mlir --shape arg1=3,4
#= graph main {
#=   input arg0 f32[2,3]
#=   input arg1 f32[3,4]
#=   const v0_5 f32[2,3] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+0, 0x1p+1, 0x1.8p+1}
#=   const c_19 f32[] = {0x0p+0}
#=   const v3.c i64[2] = {0, 1}
#=   const scale f32[] = {0x1p-1}
#=   const vq i8[] = {-3}
#=   const scale_27 f32[] = {0x1p-1}
#=   const vd i8[] = {-3}
#=   const vw.c i64[2] = {0, 0}
#=   const vw.c_32 i64[2] = {3, 4}
#=   const vw.c_33 i64[2] = {0, 1}
#=   const vw.c_34 i64[2] = {1, 1}
#=   vt f32[2,3] = mul(arg0, v0_5)
#=   vt_15 f32[2,3] = mul(vt, v0_5) @vt_7
#=   vg bool[2,3] = greater(vt_15, v0_5)
#=   v2 f32[2,3] = where(vg, vt_15, v0_5)
#=   v3 f32[] = reducesum(v2, v3.c) keepdims=0
#=   v3_22 f32[] = add(v3, c_19) @v3_12
#=   vq_26 i8[2,3] = quantize(arg0, scale, vq) @vq_14
#=   vd_30 f32[2,3] = dequantize(vq_26, scale_27, vd) @vd_16
#=   vw f32[3,4] = slice(arg1, vw.c, vw.c_32, vw.c_33, vw.c_34)
#=   v4 f32[1,2,3] = reshape(vd_30) shape=[1,2,3]
#=   v4_37 f32[1,3,4] = reshape(vw) @v4_19 shape=[1,3,4]
#=   v4_38 f32[1,2,4] = matmul(v4, v4_37) @v4_20
#=   v4_39 f32[2,4] = reshape(v4_38) @v4_21 shape=[2,4]
#=   result0 f32[] = identity(v3_22)
#=   result1 f32[2,4] = identity(v4_39)
#=   output result0
#=   output result1
#= }
