# RUN: heddle run
# EXIT: 2
#= heddle run: an argument is missing: heddle run MODEL; see heddle run --help
