# RUN: heddle compile test/models/digits --emit c -o /tmp/int.c
# EXIT: 2
#= heddle compile: --emit c: got '/tmp/int.c', want -o NAME.c where NAME can be a name in C; NAME.h is written beside it; see heddle compile --help
