# RUN: heddle tune test/golden/custom/cases/levels --db build/tune_nothing.db --seconds 5
# EXIT: 1
#= heddle tune: test/golden/custom/cases/levels: no convolution or product with constant weights
