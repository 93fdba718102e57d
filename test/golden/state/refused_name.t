# RUN: heddle run test/golden/state/models/cell.onnx --state hn=g
# EXIT: 1
#= heddle run: state 'hn=g': no input 'g', there are h, x
#=   while importing test/golden/state/models/cell.onnx
