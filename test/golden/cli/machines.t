# RUN: heddle machines | sed -E 's/^timing_mhz.*  clock/timing_mhz (make synth)  clock/'
# EXIT: 0
#= parameter          tiny        base         big        nano        lean         k26  meaning
#= k                     8          16          32           8          16          64  length of a dot product: int8 lanes of an activation word
#= n                     8          16          32           8          16          16  columns: output channels per cycle; vector lanes
#= xm_bytes          32768      131072      524288       32768      131072     1048576  activation memory
#= xm_banks              8           8           8           8           8           4  banks of activation memory: equal, contiguous address ranges
#= wm_bytes          65536      262144     1048576       65536      131072      524288  weight memory, words of N*K bytes
#= am_bytes          32768      131072      262144       32768       65536      262144  accumulator memory, words of N*4 bytes, 2 banks
#= pm_bytes          16384       32768       65536       16384       32768       32768  parameter memory, words of N*8 bytes
#= axi_bits             64         128         512          64         128         512  data width of the memory port
#= vx_cycles             1           1           1           2           1           1  cycles that a vector takes in VX, which has n / vx_cycles lanes
#= functions             1           1           1           0           0           0  1: VX has functions (exp, 1/x, tanh, ...) on each of its lanes
#= queue_ops            16          16          16           8          16           4  operations that wait in a unit's queue; up to 8 lie in LUTs, not in block RAM
#= clock_mhz           250         253         253         246         253         205  clock of times in reports: what timing supports, else assumed (base's)
#= cores                 1           1           1           1           1           1  copies on one board, each with a memory port of its own: runs side by side, each on one
#= lut               47631       82958      179708       29133       55410       73755  area by the fitted table (docs/explore.md): LUT
#= ff                36712       60620      111137       24819       47426       51805  flip-flops
#= dsp                 131         323         899          67         227         611  DSP48E2
#= bram               50.5       162.5       512.5          40        98.5         143  block RAM of 36 Kbit
#= uram                  0           0           0           0           0          48  UltraRAM
#= timing_mhz (make synth)  clock that timing supports by `make synth`, over the range of its delays
#= fingerprint  0x3f10677c  0x50a90847  0x191bd456  0xf922ee92  0x92e0f193  0x67a73ca8  of all parameters that a program depends on
