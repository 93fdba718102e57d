# RUN: heddle run test/models/digits --report /dev/full
# EXIT: 1
#= heddle run: /dev/full: cannot write: No space left on device
