# A sum with the operand of a convolution: both stay on chip until then.
# RUN: heddle opt --stage prepare --dump plan --machine tiny %s
graph residual {
  input x i8[1,8,8,8]
  const aw i8[8,8,1,1] = {-127, -90, -53, -16, 21, 58, 95, -122, -85, -48, -11, 26, 63, 100,
    -117, -80, -43, -6, 31, 68, 105, -112, -75, -38, -1, 36, 73, 110, -107, -70, -33, 4, 41, 78,
    115, -102, -65, -28, 9, 46, 83, 120, -97, -60, -23, 14, 51, 88, 125, -92, -55, -18, 19, 56,
    93, -125, -87, -50, -13, 24, 61, 98, -120, -82}
  const ab i32[8] = {-30, -19, -8, 3, 14, 25, 36, 47}
  const as f32[1] = {0x1p-8}
  a i8[1,8,8,8] = qconv(x, aw, ab, as) kernel_shape=[1,1] strides=[1,1] dilations=[1,1] pads=[0,0,0,0] group=1
  y i8[1,8,8,8] = qadd(x, a) a_scale=0x1p-1 b_scale=0x1p-1
  output y
}
#= # residual on tiny: of 32768 bytes of XM 0 are a ring
#= plan steps=1 layers=2 tensors=3 arena_bytes=1024
#= # qconv as mx.gemm vx.map: in [1,8,8,8] out [1,8,8,8] window 1x1 stride 1,1
#= # tile 3x8, 1 weight chunks of 1 words kept, in on chip, out on chip
#= layer 0 a chain_th=2 ask_tiles=3 th=3 tw=8 nb=1 cwb=1 weights_stay=1 chain_last=1
#= # qadd as vx.map: in [1,8,8,8] out [1,8,8,8] window 1x1 stride 1,1
#= # tile 3x8, in on chip, out on chip
#= layer 1 y chain_th=2 ask_tiles=3 th=3 tw=8 chain_last=1
#= # [1,8,8,8]
#= tensor 0 x use_last=1 resident=1 xm=8192 in_arena=1
#= # [1,8,8,8]
#= tensor 1 a use_last=1 resident=1
#= # [1,8,8,8]
#= tensor 2 y use_last=1 resident=1 xm=4096 in_arena=1 arena=512
