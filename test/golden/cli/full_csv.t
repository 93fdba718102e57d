# RUN: heddle bench compare test/models/digits --devices golden --csv /dev/full > /dev/null
# EXIT: 1
#= heddle bench: /dev/full: cannot write: No space left on device
