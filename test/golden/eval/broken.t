# RUN: heddle eval test/models/digits --data test/golden/eval/bad
# EXIT: 1
#= heddle eval: PNG: read beyond end of data
#=   in test/golden/eval/bad/broken.png
#=   in sample 0 of test/golden/eval/bad
