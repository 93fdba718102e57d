# RUN: heddle compile test/models/digits --emit rust -o /tmp/x.rs
# EXIT: 2
#= heddle compile: --emit: got 'rust', want hdl or c; see heddle compile --help
