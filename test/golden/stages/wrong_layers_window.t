# A window that is not the node's.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/window.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/window.layers:2: layer 0: kh is 5, want 1, which follows from the graph and the choices
