# RUN: heddle run test/models/digits --trace /dev/full
# EXIT: 1
#= heddle run: /dev/full: cannot write: No space left on device
