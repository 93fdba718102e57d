# RUN: heddle run test/golden/cli/bad/good.onnx --set lanes=4
# EXIT: 1
#= heddle run: machine base: no machine parameter 'lanes'; there are k, n, xm_bytes, xm_banks, wm_bytes, am_bytes, pm_bytes, axi_bits, vx_cycles, functions, queue_ops, clock_mhz, cores
