# RUN: heddle opt --stage ops --ops test/golden/stages/bad/operation.ops --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/operation.ops:6: got 'vx.mop', want nop, map, dw
