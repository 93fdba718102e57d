# RUN: heddle help nothing
# EXIT: 2
#= heddle: unknown command 'nothing'; heddle --help lists them
