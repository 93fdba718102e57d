# A kind that the node does not become.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/kind.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/kind.layers:3: got 'pool', want add
