# RUN: heddle test test/golden/cli/bad
# EXIT: 1
#= heddle test: no network in test/golden/cli/bad or below it
#= 0 passed, 0 failed, 0 skipped
