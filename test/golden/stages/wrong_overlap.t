# RUN: heddle opt --stage plan --plan test/golden/stages/bad/overlap.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: tensors 0 and 1 overlap in XM: bytes 0 to 512 and 0 to 512, both between layers 0 and 1
#=   in test/golden/stages/bad/overlap.plan
