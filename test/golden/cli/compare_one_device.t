# RUN: heddle compare a.onnx --devices golden
# EXIT: 2
#= heddle compare: --devices: got 'golden', want at least two names: --devices golden,iss; see heddle compare --help
