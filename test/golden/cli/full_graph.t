# RUN: heddle graph test/models/digits -o - > /dev/full
# EXIT: 1
#= heddle graph: standard output: cannot write: No space left on device
