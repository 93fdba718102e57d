# A node that the graph does not have.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/node.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/node.layers:2: no node 'nobody': the layers are of another network
