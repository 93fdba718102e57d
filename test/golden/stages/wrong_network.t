# RUN: heddle opt --stage plan --plan test/golden/stages/bad/network.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/network.plan:2: layer 0 is 'b', want 'a': the text is of another network
