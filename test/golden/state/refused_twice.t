# RUN: heddle run test/golden/state/models/cell.onnx --state hn=h --state hn=h
# EXIT: 1
#= heddle run: state 'hn=h': h is state already
#=   while importing test/golden/state/models/cell.onnx
