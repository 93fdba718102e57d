# An operand that comes through a ring of no bytes.
# RUN: heddle opt --stage plan --plan test/golden/stages/bad/room.plan --machine tiny test/golden/stages/residual.t
# EXIT: 1
#= heddle opt: the plan has no room: it needs 128 bytes of XM at a time, there are 0
#=   while lowering a
