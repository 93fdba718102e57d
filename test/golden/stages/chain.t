# Expand, depthwise, project, in less XM than one tensor takes: a chain that rolls, or streams.
# RUN: heddle opt --stage prepare --dump plan --machine tiny --set xm_bytes=8192 %s
graph chain {
  input x i8[1,4,24,24]
  const ew i8[16,4,1,1] = {-127, -90, -53, -16, 21, 58, 95, -122, -85, -48, -11, 26, 63, 100,
    -117, -80, -43, -6, 31, 68, 105, -112, -75, -38, -1, 36, 73, 110, -107, -70, -33, 4, 41, 78,
    115, -102, -65, -28, 9, 46, 83, 120, -97, -60, -23, 14, 51, 88, 125, -92, -55, -18, 19, 56,
    93, -125, -87, -50, -13, 24, 61, 98, -120, -82}
  const eb i32[16] = {-30, -19, -8, 3, 14, 25, 36, 47, 58, 69, 80, 91, 102, 113, 124, 135}
  const es f32[1] = {0x1p-8}
  const dw i8[16,1,3,3] = {-127, -90, -53, -16, 21, 58, 95, -122, -85, -48, -11, 26, 63, 100,
    -117, -80, -43, -6, 31, 68, 105, -112, -75, -38, -1, 36, 73, 110, -107, -70, -33, 4, 41, 78,
    115, -102, -65, -28, 9, 46, 83, 120, -97, -60, -23, 14, 51, 88, 125, -92, -55, -18, 19, 56,
    93, -125, -87, -50, -13, 24, 61, 98, -120, -82, -45, -8, 29, 66, 103, -115, -77, -40, -3, 34,
    71, 108, -110, -72, -35, 2, 39, 76, 113, -105, -67, -30, 7, 44, 81, 118, -100, -62, -25, 12,
    49, 86, 123, -95, -57, -20, 17, 54, 91, -127, -90, -52, -15, 22, 59, 96, -122, -85, -47, -10,
    27, 64, 101, -117, -80, -42, -5, 32, 69, 106, -112, -75, -37, 0, 37, 74, 111, -107, -70, -32,
    5, 42, 79, 116, -102, -65, -27, 10, 47, 84}
  const db i32[16] = {-30, -19, -8, 3, 14, 25, 36, 47, 58, 69, 80, 91, 102, 113, 124, 135}
  const ds f32[1] = {0x1p-8}
  const pw i8[4,16,1,1] = {-127, -90, -53, -16, 21, 58, 95, -122, -85, -48, -11, 26, 63, 100,
    -117, -80, -43, -6, 31, 68, 105, -112, -75, -38, -1, 36, 73, 110, -107, -70, -33, 4, 41, 78,
    115, -102, -65, -28, 9, 46, 83, 120, -97, -60, -23, 14, 51, 88, 125, -92, -55, -18, 19, 56,
    93, -125, -87, -50, -13, 24, 61, 98, -120, -82}
  const pb i32[4] = {-30, -19, -8, 3}
  const ps f32[1] = {0x1p-8}
  e i8[1,16,24,24] = qconv(x, ew, eb, es) kernel_shape=[1,1] strides=[1,1] dilations=[1,1] pads=[0,0,0,0] group=1
  d i8[1,16,24,24] = qconv(e, dw, db, ds) kernel_shape=[3,3] strides=[1,1] dilations=[1,1] pads=[1,1,1,1] group=16
  p i8[1,4,24,24] = qconv(d, pw, pb, ps) kernel_shape=[1,1] strides=[1,1] dilations=[1,1] pads=[0,0,0,0] group=1
  output p
}
#= # chain on tiny+xm_bytes=8192: of 8192 bytes of XM 8192 are a ring
#= plan steps=1 layers=3 tensors=4 xm_ring_bytes=8192 arena_bytes=25344
#= # qconv as mx.gemm vx.map: in [1,24,24,4] out [1,24,24,16] window 1x1 stride 1,1
#= # tile 1x24, 2 weight chunks of 2 words kept, in streamed, out streamed
#= layer 0 e ask_tiles=24 ask_nb=1 ring_bytes=8192 ring_in=4096 th=1 tw=24 nb=1 cwb=1 weights_stay=1
#= # qconv as vx.dw: in [1,24,24,16] out [1,24,24,16] window 3x3 stride 1,1
#= # tile 1x24, 1 window chunks of 6 words kept, in streamed, out streamed
#= layer 1 d ring_bytes=8192 ring_in=7168 th=1 tw=24 nb=2 weights_stay=1 chain_first=1 chain_last=1
#= # qconv as mx.gemm vx.map: in [1,24,24,16] out [1,24,24,8] window 1x1 stride 1,1
#= # tile 2x24, 1 weight chunks of 2 words kept, in streamed, out streamed
#= layer 2 p ask_tiles=12 ring_bytes=8192 ring_in=3072 th=2 tw=24 nb=1 cwb=2 weights_stay=1 chain_first=2 chain_last=2
#= # [1,24,24,4]
#= tensor 0 x in_arena=1 arena=23040
#= # [1,24,24,16]
#= tensor 1 e use_last=1 in_arena=1
#= # [1,24,24,16]
#= tensor 2 d use_first=1 use_last=2 in_arena=1 arena=9216
#= # [1,24,24,8]
#= tensor 3 p use_first=2 use_last=2 in_arena=1 arena=18432
