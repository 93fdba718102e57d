# RUN: heddle quantize test/models/digits --calibrate test/golden -o /tmp/heddle_golden_q.onnx
# EXIT: 1
#= heddle quantize: test/golden: holds neither test_data_set_N folders nor input_0.pb; --calibrate takes such a folder, .npz, .npy or .pb
