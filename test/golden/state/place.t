# The next state lies where the last one lay: hq and cq have one place in the arena.
# RUN: heddle compile test/golden/state/models/cell.onnx --state hn=h -o /dev/null --dump plan | grep arena=
#= tensor 0 xq resident=1 xm=16384 in_arena=1
#= tensor 2 h use_first=1 use_last=1 resident=1 xm=16384 in_arena=1 arena=256
#= tensor 4 hn use_first=2 use_last=3 resident=1 xm=16384 in_arena=1 arena=256
#= tensor 5 yq use_first=3 use_last=3 resident=1 in_arena=1 arena=512
