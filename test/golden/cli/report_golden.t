# RUN: heddle run test/models/digits --device golden --report /tmp/never.html
# EXIT: 2
#= heddle run: --report: device golden has no cycles, want iss or rtl; see heddle run --help
