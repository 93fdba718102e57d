# RUN: heddle run test/models/digits --trace /no/such/folder/t.json > /dev/null
# EXIT: 1
#= heddle run: /no/such/folder/t.json: cannot write: No such file or directory
