# An lstm between dequantize and quantize, its state in and out; a gru of which only the last step is read, quantised; one with lengths stays.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[3,1,2]
  input h0 f32[1,1,1]
  input c0 f32[1,1,1]
  const s f32[] = {0.5}
  const z i8[] = {3}
  const sy f32[] = {0.25}
  const zy i8[] = {-1}
  const wq i8[1,4,2] = {1, 2, 3, 4, 5, 6, 7, -8}
  const ws f32[4] = {0.5, 0.25, 0.5, 1.0}
  const wz i8[4] = {0, 0, 0, 0}
  const rq i8[1,4,1] = {1, 2, 3, 4}
  const rs f32[] = {0.5}
  const rz i8[] = {0}
  const b f32[1,8] = {0.5, 0.25, 0.75, 1.0, 0.0, 0.0, 0.0, 2.0}
  const uq i8[1,3,2] = {1, 2, 3, 4, 5, 6}
  const vq i8[1,3,1] = {1, 2, 3}
  const ax i64[1] = {1}
  const len i32[1] = {2}
  xf ? = dequantize(x, s, z)
  w ? = dequantize(wq, ws, wz) axis=1
  r ? = dequantize(rq, rs, rz)
  u ? = dequantize(uq, rs, rz)
  v ? = dequantize(vq, rs, rz)
  y ?, yh ?, c ? = lstm(xf, w, r, b, -, h0, c0) @lstm hidden_size=1
  ys ? = squeeze(y, ax)
  yq ? = quantize(ys, sy, zy)
  g0 ?, gh ? = gru(xf, u, v) @gru direction="reverse"
  gq ? = quantize(gh, sy, zy)
  k ? = gru(xf, u, v, -, len) @stays
  kq ? = quantize(k, sy, zy)
  output yq
  output yh
  output c
  output gq
  output kq
}
#= graph g {
#=   input x i8[3,1,2]
#=   input h0 f32[1,1,1]
#=   input c0 f32[1,1,1]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {3}
#=   const sy f32[] = {0x1p-2}
#=   const zy i8[] = {-1}
#=   const wq i8[1,4,2] = {1, 2, 3, 4, 5, 6, 7, -8}
#=   const rq i8[1,4,1] = {1, 2, 3, 4}
#=   const rs f32[] = {0x1p-1}
#=   const rz i8[] = {0}
#=   const uq i8[1,3,2] = {1, 2, 3, 4, 5, 6}
#=   const vq i8[1,3,1] = {1, 2, 3}
#=   const ax i64[1] = {1}
#=   const len i32[1] = {2}
#=   const lstm.bias i32[1,2,4] = {2, 2, 3, 2, 0, 0, 0, 16}
#=   const lstm.scale f32[1,2,4] = {0x1p-2, 0x1p-3, 0x1p-2, 0x1p-1, 0x1p-3, 0x1p-3, 0x1p-3, 0x1p-3}
#=   const starts i64[1] = {2}
#=   const ends i64[1] = {3}
#=   const axes i64[1] = {0}
#=   const gru.bias i32[1,2,3] = {0, 0, 0, 0, 0, 0}
#=   const gru.scale f32[1,2,3] = {0x1p-2, 0x1p-2, 0x1p-2, 0x1p-3, 0x1p-3, 0x1p-3}
#=   const starts_46 i64[1] = {0}
#=   const ends_47 i64[1] = {1}
#=   const axes_48 i64[1] = {0}
#=   xf f32[3,1,2] = dequantize(x, s, z)
#=   u f32[1,3,2] = dequantize(uq, rs, rz)
#=   v f32[1,3,1] = dequantize(vq, rs, rz)
#=   k f32[3,1,1,1] = gru(xf, u, v, -, len) @stays
#=   kq i8[3,1,1,1] = quantize(k, sy, zy)
#=   h0.q i8[1,1,1] = quantize(h0, sy, zy)
#=   lstm.q i8[3,1,1,1], c f32[1,1,1] = qlstm(x, wq, rq, lstm.bias, lstm.scale, h0.q, c0) @lstm to="i8" x_zp=3 y_zp=-1 lo=-128 hi=127 scale=0x1p+2
#=   lstm i8[1,1,1,1] = slice(lstm.q, starts, ends, axes) @lstm_15
#=   lstm_41 i8[1,1,1] = reshape(lstm) @lstm_16 shape=[1,1,1]
#=   yh f32[1,1,1] = dequantize(lstm_41, sy, zy) @lstm_17
#=   ys.q i8[3,1,1] = squeeze(lstm.q, ax) @ys
#=   yq i8[3,1,1] = qrescale(ys.q) to="i8" y_zp=-1 lo=-128 hi=127 x_zp=-1 scale=0x1p+0
#=   gru.q i8[3,1,1,1] = qgru(x, uq, vq, gru.bias, gru.scale) @gru direction="reverse" to="i8" x_zp=3 y_zp=-1 lo=-128 hi=127 scale=0x1p+2
#=   gru i8[1,1,1,1] = slice(gru.q, starts_46, ends_47, axes_48) @gru_23
#=   gru_50 i8[1,1,1] = reshape(gru) @gru_24 shape=[1,1,1]
#=   gq i8[1,1,1] = qrescale(gru_50) to="i8" y_zp=-1 lo=-128 hi=127 x_zp=-1 scale=0x1p+0
#=   output yq
#=   output yh
#=   output c
#=   output gq
#=   output kq
#= }
