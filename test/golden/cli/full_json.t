# RUN: heddle compile test/models/digits -o /tmp/heddle_full.hdl --json /dev/full > /dev/null
# EXIT: 1
#= heddle compile: /dev/full: cannot write: No space left on device
