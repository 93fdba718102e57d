# RUN: heddle opt --stage plan --plan test/golden/stages/bad/short.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/short.plan: no line of layer 1, want one of each of 2
