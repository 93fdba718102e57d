# RUN: heddle run test/models/digits --devices cpu,golden,cpu
# EXIT: 1
#= heddle run: devices cpu,golden,cpu: cpu is named twice
