# RUN: heddle run test/models/digits --select qadd
# EXIT: 2
#= heddle run: --select: says what --trace, --wave or --dump show; give one of them, too; see heddle run --help
