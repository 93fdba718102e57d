# RUN: heddle run /no/such.onnx --device nonesuch
# EXIT: 1
#= heddle run: device nonesuch: unknown, this program has golden, cpu, opencl, cuda, iss, rtl, xrt, xrt-opencl; HOST/NAME is one of them on another computer
