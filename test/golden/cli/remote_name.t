# RUN: heddle run test/models/digits --device lab/abacus
# EXIT: 1
#= heddle run: device lab/abacus: unknown, this program has golden, cpu, opencl, cuda, iss, rtl, xrt, xrt-opencl; HOST/NAME is one of them on another computer
