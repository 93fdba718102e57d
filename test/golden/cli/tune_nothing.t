# RUN: heddle tune test/models/digits --db build/tune_nothing.db --seconds 5
# EXIT: 1
#= heddle tune: test/models/digits: no float convolution or product with constant weights
