# RUN: heddle eval test/models/digits --data test/golden/eval/images --mean 1,2
# EXIT: 1
#= heddle eval: --mean: got '1,2', want a number, or three with commas
