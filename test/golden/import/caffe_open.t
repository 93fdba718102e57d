# RUN: heddle opt test/golden/import/models/open.prototxt
# EXIT: 1
#= heddle opt: line 1: got '', want a field or the end of its message
#=   while importing test/golden/import/models/open.prototxt
