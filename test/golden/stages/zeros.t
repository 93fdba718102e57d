# A layer that reads nothing, since all its weights are 0, still has a word to read.
# RUN: heddle opt --stage prepare --dump plan --machine tiny %s
graph g {
  input x i8[1,48]
  const w i8[3,48] = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}
  const b i32[3] = {5,6,7}
  const s f32[3] = {1,1,1}
  y ? = qgemm(x, w, b, s) x_zp=0 y_zp=0 lo=-128 hi=127 to="i8"
  output y
}
#= # g on tiny: of 32768 bytes of XM 0 are a ring
#= plan steps=1 layers=1 tensors=2 arena_bytes=320
#= # qgemm as mx.gemm vx.map: in [1,1,1,48] out [1,1,1,8] window 1x1 stride 1,1
#= # tile 1x1, 1 weight chunks of 1 words kept, in on chip, out on chip
#= layer 0 y th=1 tw=1 nb=1 cwb=1 weights_stay=1
#= # [1,1,1,48]
#= tensor 0 x resident=1 in_arena=1
#= # [1,1,1,8]
#= tensor 1 y resident=1 xm=4096 in_arena=1 arena=256
