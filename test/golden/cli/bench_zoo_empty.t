# RUN: heddle bench zoo test/golden/cli
# EXIT: 1
#= heddle bench: no network in test/golden/cli; name folders that hold some, at most 6 levels deep
