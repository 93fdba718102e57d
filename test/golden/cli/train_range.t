# RUN: heddle train mlp --data test/data/digits.npz --with epochs=0
# EXIT: 1
#= heddle train: --with epochs=0: want 1 to 100000: times that every sample is seen
