# Bytes of a pixel that no layer can read.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/pixel.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/pixel.layers:4: tensor 0: cp is 6, want 8, which follows from the graph and the choices
