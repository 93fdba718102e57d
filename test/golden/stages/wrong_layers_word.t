# A line that is none.
# RUN: heddle opt --stage layers --layers test/golden/stages/bad/word.layers --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: test/golden/stages/bad/word.layers:2: got 'lager', want host, layer or tensor
