# RUN: heddle opt --stage plan --plan test/golden/stages/bad/range.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: layer 0: th is 99, allowed 1 to 8
#=   in test/golden/stages/bad/range.plan
