# RUN: heddle run test/golden/cli/bad/good.onnx --machine huge
# EXIT: 1
#= heddle run: machine 'huge': not tiny, base or big, and no such file (No such file or directory); a machine file has lines key = value
