# RUN: heddle machines > /dev/full
# EXIT: 1
#= heddle machines: cannot write to standard output
