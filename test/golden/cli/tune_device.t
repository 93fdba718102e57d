# RUN: heddle tune 8x8x8 --device iss --db build/tune_device.db
# EXIT: 2
#= heddle tune: device iss takes no schedules; cpu, opencl and cuda do; see heddle tune --help
