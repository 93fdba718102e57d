# RUN: heddle run test/models/digits --device rtl --machine tiny --jobs 2 --mem-jitter 3
# EXIT: 1
#= heddle run: rtl: jitter is drawn in every cycle, so a run with it has no parts; leave out --jobs or --mem-jitter
