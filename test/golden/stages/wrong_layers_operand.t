# An operand that the layer does not read.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/operand.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/operand.layers:3: got '2', want 1
