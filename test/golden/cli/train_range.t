# RUN: heddle train mlp --data test/data/digits.npz --set epochs=0
# EXIT: 1
#= heddle train: --set epochs=0: want 1 to 100000: times that every sample is seen
