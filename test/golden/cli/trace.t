# RUN: t=$(mktemp) && heddle run test/models/digits --trace $t > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oa]\)/N \1/g'
# RUN: heddle run test/models/digits --trace $t --trace-from 1000 --trace-cycles 500 > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oa]\)/N \1/g'
# RUN: rm $t
# EXIT: 0
#= trace of iss: N operations, N arrows, adds up to the counters
#= trace of iss: N operations, N arrows, a window
