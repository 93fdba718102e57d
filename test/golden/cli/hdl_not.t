# RUN: heddle run test/golden/cli/bad/not_hdl.hdl
# EXIT: 1
#= heddle run: test/golden/cli/bad/not_hdl.hdl: not a .hdl file: begins with 0x6c6c6568, want 0x1a4c4448
