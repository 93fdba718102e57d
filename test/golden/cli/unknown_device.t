# RUN: heddle run test/golden/cli/bad/good.onnx --device abacus
# EXIT: 1
#= heddle run: device abacus: unknown, this program has golden, cpu, opencl, cuda, iss, rtl, xrt, xrt-opencl; HOST/NAME is one of them on another computer
