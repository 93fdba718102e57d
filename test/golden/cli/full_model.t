# RUN: heddle compile test/models/digits -o /dev/full
# EXIT: 1
#= heddle compile: /dev/full: cannot write: No space left on device
