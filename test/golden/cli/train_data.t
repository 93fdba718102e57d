# RUN: heddle train mlp --data test/models/digits/digits.npz --set epochs=1 --set batch=5000
# EXIT: 1
#= heddle train: test/models/digits/digits.npz: 288 samples to train on, a batch has 5000
