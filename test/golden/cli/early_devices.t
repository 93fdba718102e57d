# RUN: heddle compare /no/such.onnx --devices golden,nonesuch
# EXIT: 1
#= heddle compare: device nonesuch: unknown, this program has golden, cpu, opencl, cuda, iss, rtl, xrt, xrt-opencl; HOST/NAME is one of them on another computer
