# RUN: heddle run test/golden/cli/bad/cut_short.hdl
# EXIT: 1
#= heddle run: test/golden/cli/bad/cut_short.hdl: cut short: 24 bytes, the header has 64
