# Convolution2DTransposeBias of MediaPipe, less TFLite's transposed convolution and the bias: 0.
# RUN: heddle run test/golden/import/models/custom.tflite --device golden --outputs /tmp/heddle_golden_custom.npz | grep output
# RUN: python3 -c "import struct, zipfile; d = zipfile.ZipFile('/tmp/heddle_golden_custom.npz').read('d.npy')[-384:]; print(max(map(abs, struct.unpack('<96f', d))) < 1e-6)"
# RUN: heddle opt test/golden/import/models/custom.tflite | grep convtranspose
#= output d f32[1,6,8,2]
#= True
#=   y_6 f32[1,2,6,8] = convtranspose(y, y_4, b) @y_2 kernel_shape=[3,3] strides=[2,2] pads=[0,0,1,1] output_padding=[0,0]
#=   t_11 f32[1,2,6,8] = convtranspose(t, t_10) @t_6 kernel_shape=[3,3] strides=[2,2] pads=[0,0,1,1] output_padding=[0,0]
