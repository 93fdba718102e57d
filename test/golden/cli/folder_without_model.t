# RUN: heddle run test/golden/cli
# EXIT: 1
#= heddle run: test/golden/cli: a folder without model.onnx, model.tflite; name a network or an .hdl file
