# RUN: heddle run /no/such.onnx --outputs /no/such/x.npz
# EXIT: 1
#= heddle run: /no/such/x.npz: cannot write: No such file or directory
