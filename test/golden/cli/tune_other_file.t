# RUN: heddle run test/models/digits --device cpu --db README.md
# EXIT: 1
#= heddle run: README.md: not a database of schedules of this version; heddle tune --db FILE makes one
