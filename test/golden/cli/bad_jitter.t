# RUN: heddle compare a.onnx --devices golden,iss --mem-jitter 5..1
# EXIT: 2
#= heddle compare: --mem-jitter: got '1', want a whole number from 5 to 18446744073709551614; see heddle compare --help
