# RUN: heddle bench test/models/digits --csv x.csv
# EXIT: 2
#= heddle bench: --devices, --csv and --report belong to bench compare; see heddle bench --help
