# RUN: heddle run test/golden/cli/bad/good.onnx --machine huge
# EXIT: 1
#= heddle run: machine 'huge': not tiny, base, big, nano, lean or k26, and no such file (No such file or directory); a machine file has lines key = value
