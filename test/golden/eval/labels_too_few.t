# RUN: heddle eval test/models/digits --data test/golden/eval/images --labels test/golden/eval/too_few.txt
# EXIT: 1
#= heddle eval: test/golden/eval/too_few.txt: no class for sample 2, 2.png
