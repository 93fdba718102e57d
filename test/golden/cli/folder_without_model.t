# RUN: heddle run test/golden/cli
# EXIT: 1
#= heddle run: test/golden/cli: a folder without model.onnx, model.tflite, deploy.prototxt, model.mlir; name a network or an .hdl file
