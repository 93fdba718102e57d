# A number of layers that the graph does not make.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/count.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/count.layers:1: layers: layers is 7, want 2, which follows from the graph and the choices
