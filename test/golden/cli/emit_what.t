# RUN: heddle compile test/models/digits --emit rust -o /tmp/x.rs
# EXIT: 2
#= heddle compile: --emit: got 'rust', want one of hdl, c; see heddle compile --help
