# RUN: heddle compile /no/such.onnx -o /proc/no/x.hdl
# EXIT: 1
#= heddle compile: /proc/no: cannot make the folder: No such file or directory
