# RUN: heddle query test/models/digits 'conv[speed>3]'
# EXIT: 1
#= heddle query: selector: no operation has an attribute 'speed'; docs/query.md lists them
