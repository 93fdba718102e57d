# RUN: heddle run test/models/digits --report /no/such/folder/r.html > /dev/null
# EXIT: 1
#= heddle run: /no/such/folder/r.html: cannot write: No such file or directory
