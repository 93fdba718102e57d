# Operands of one channel: runs of single bytes, which the host moves sooner, so no layer is the concat.
# RUN: heddle opt --stage prepare --dump layers %s | grep -E '^layer [0-9]' | cut -d' ' -f1-7
graph g {
  input x i8[1,3,192,192]
  const w i8[1,3,1,1] = {-6,1,-5}
  const b i32[1] = {0}
  const s f32[1] = {0.05}
  const scales f32[4] = {1,1,2,2}
  a ? = qconv(x, w, b, s) kernel_shape=[1,1]
  d ? = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=3
  h ? = qmaxpool(a) kernel_shape=[2,2] strides=[2,2]
  r ? = resize(h, -, scales) mode="nearest" coordinate_transformation_mode="asymmetric" nearest_mode="floor"
  c ? = concat(r, d) axis=1
  y ? = qmaxpool(c) kernel_shape=[2,2] strides=[2,2]
  output y
}
#= layer 0 a matmul 0 -> 1
#= layer 1 d matmul 0 -> 2
#= layer 2 h pool 1 -> 3
#= layer 3 y pool 4 -> 5
