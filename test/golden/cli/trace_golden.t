# RUN: heddle run test/models/digits --device golden --trace /tmp/never.json
# EXIT: 2
#= heddle run: --trace: device golden has no cycles, want iss or rtl; see heddle run --help
