# RUN: heddle eval test/models/digits --data test/models/digits/digits.npz --labels test/models/digits/digits.npz | grep -v samples/s
#= test/models/digits/model.onnx on cpu, 360 samples of test/models/digits/digits.npz
#= top-1 99.17 %: the label is first 357 times
#= top-5 100.00 %: among five 360 times
