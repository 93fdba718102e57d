# RUN: heddle run test/models/digits --trace t.json --trace-level unit
# EXIT: 2
#= heddle run: --trace-level: got 'unit', want one of op, layer; see heddle run --help
