# RUN: heddle quantize test/models/digits --calibrate test/golden -o /tmp/heddle_golden_q.onnx
# EXIT: 1
#= heddle quantize: test/golden: holds neither test_data_set_N folders, nor input_0.pb, nor images (.png, .jpg); data are such a folder, .npz, .npy or .pb
