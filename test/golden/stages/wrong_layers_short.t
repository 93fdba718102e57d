# A tensor without a line.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/short.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/short.layers: no line of tensor 1, want one of each of 3
