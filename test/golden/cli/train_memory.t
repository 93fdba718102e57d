# RUN: heddle train mlp --data test/data/digits.npz --memory 50MB
# EXIT: 1
#= heddle train: --memory 50MB: want bytes, or 1% to 100%
