# RUN: t=$(mktemp) && heddle run test/models/digits --trace $t --trace-level layer > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oae]\)/N \1/g'
# RUN: heddle run test/models/digits --trace $t --select 'qadd' > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oa]\)/N \1/g'
# RUN: heddle run test/models/digits --device rtl --machine tiny --mem-jitter 7 --trace $t > /dev/null && python3 scripts/check_trace.py $t | sed 's/[0-9]\+ \([oa]\)/N \1/g'
# RUN: rm $t
#= trace of iss: N events, N arrows, adds up to the counters
#= trace of iss: N operations, N arrows, a window
#= trace of rtl: N operations, N arrows, adds up to the counters
