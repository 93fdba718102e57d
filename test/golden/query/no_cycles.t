# RUN: heddle query test/models/digits 'conv[cycles>3]' --device golden
# EXIT: 1
#= heddle query: --device golden: has no cycles to ask for, want iss or rtl
