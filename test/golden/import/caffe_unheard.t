# RUN: heddle opt test/golden/import/models/unheard.prototxt
# EXIT: 1
#= heddle opt: layer 'x' (Unheard, line 1): layers of this type are not supported; docs/formats.md lists those that are
#=   while importing test/golden/import/models/unheard.prototxt
