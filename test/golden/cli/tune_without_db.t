# RUN: heddle tune 8x8x8
# EXIT: 2
#= heddle tune: --db FILE is missing: where schedules are kept; see heddle tune --help
