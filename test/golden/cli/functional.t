# RUN: heddle run test/models/digits --device iss --functional --trace /tmp/x.json
# EXIT: 2
#= heddle run: --functional: gives results without time, on device iss alone; leave out --trace and --report; see heddle run --help
