# RUN: heddle frobnicate
# EXIT: 2
#= heddle: unknown command 'frobnicate'; heddle --help lists them
