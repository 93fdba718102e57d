# A pool, and the mean of an image.
# RUN: heddle opt --stage prepare --dump plan --machine tiny %s
graph pools {
  input x i8[1,8,8,8]
  m i8[1,8,4,4] = qmaxpool(x) kernel_shape=[2,2] strides=[2,2] dilations=[1,1] pads=[0,0,0,0]
  r i8[1,8,1,1] = qmean(m) x_scale=0x1p-4 scale=0x1p-4
  output r
}
#= # pools on tiny: of 32768 bytes of XM 28672 are a ring
#= plan steps=1 layers=2 tensors=3 xm_ring_bytes=28672 arena_bytes=576
#= # qmaxpool as vx.map: in [1,8,8,8] out [1,4,4,8] window 2x2 stride 2,2
#= # tile 2x4, in on chip, out on chip
#= layer 0 m ask_tiles=2 ring_bytes=28672 ring_in=28672 th=2 tw=4
#= # qmean as vx.map: in [1,4,4,8] out [1,1,1,8] window 4x4 stride 1,1
#= # tile 1x1, in on chip, out on chip
#= layer 1 r ring_bytes=28672 ring_in=28672 th=1 tw=1 chain_first=1 chain_last=1
#= # [1,8,8,8]
#= tensor 0 x resident=1 in_arena=1
#= # [1,4,4,8]
#= tensor 1 m use_last=1 resident=1 xm=512
#= # [1,1,1,8]
#= tensor 2 r use_first=1 use_last=1 resident=1 in_arena=1 arena=512
