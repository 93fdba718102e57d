# A dense layer and softmax: rows of channels.
# RUN: heddle opt --stage prepare --dump plan --machine tiny %s
graph dense {
  input x i8[4,16]
  const dw i8[8,16] = {-127, -90, -53, -16, 21, 58, 95, -122, -85, -48, -11, 26, 63, 100, -117,
    -80, -43, -6, 31, 68, 105, -112, -75, -38, -1, 36, 73, 110, -107, -70, -33, 4, 41, 78, 115,
    -102, -65, -28, 9, 46, 83, 120, -97, -60, -23, 14, 51, 88, 125, -92, -55, -18, 19, 56, 93,
    -125, -87, -50, -13, 24, 61, 98, -120, -82, -45, -8, 29, 66, 103, -115, -77, -40, -3, 34, 71,
    108, -110, -72, -35, 2, 39, 76, 113, -105, -67, -30, 7, 44, 81, 118, -100, -62, -25, 12, 49,
    86, 123, -95, -57, -20, 17, 54, 91, -127, -90, -52, -15, 22, 59, 96, -122, -85, -47, -10, 27,
    64, 101, -117, -80, -42, -5, 32, 69, 106, -112, -75, -37, 0}
  const db i32[8] = {-30, -19, -8, 3, 14, 25, 36, 47}
  const ds f32[1] = {0x1p-8}
  d i8[4,8] = qgemm(x, dw, db, ds) transB=1
  s i8[4,8] = qsoftmax(d) axis=-1 x_scale=0x1p-4
  output s
}
#= # dense on tiny: of 32768 bytes of XM 28672 are a ring
#= plan steps=1 layers=2 tensors=3 xm_ring_bytes=28672 arena_bytes=320
#= # qgemm as mx.gemm vx.map: in [1,4,1,16] out [1,4,1,8] window 1x1 stride 1,1
#= # tile 4x1, 1 weight chunks of 2 words kept, in on chip, out on chip
#= layer 0 d ring_bytes=28672 ring_in=28672 th=4 tw=1 nb=1 cwb=2 weights_stay=1
#= # qsoftmax as vx.map: in [1,4,1,8] out [1,4,1,8] window 1x1 stride 1,1
#= # tile 4x1, in on chip, out on chip
#= layer 1 s ring_bytes=28672 ring_in=28672 th=4 tw=1 chain_first=1 chain_last=1
#= # [1,4,1,16]
#= tensor 0 x resident=1 in_arena=1
#= # [1,4,1,8]
#= tensor 1 d use_last=1 resident=1 xm=64
#= # [1,4,1,8]
#= tensor 2 s use_first=1 use_last=1 resident=1 in_arena=1 arena=256
