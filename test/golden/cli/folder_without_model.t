# RUN: heddle run test/golden/cli
# EXIT: 1
#= heddle run: test/golden/cli: a folder without model.onnx; name a network or an .hdl file
