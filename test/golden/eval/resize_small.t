# RUN: heddle eval test/models/digits --data test/golden/eval/images --resize 4
# EXIT: 1
#= heddle eval: --resize 4: gives 4 x 4 pixels, input image takes 8 x 8; want more
#=   in sample 0 of test/golden/eval/images
