# RUN: heddle query test/models/digits 'conv[utilization'
# EXIT: 1
#= heddle query: selector 'conv[utilization', at column 17 (''): want a comparison (= != < <= > >= ^= $= *=) or ]; see docs/query.md
