# A state of another network.
# RUN: f=$(mktemp -u) && heddle run test/golden/state/models/cell.onnx --state hn=h --steps 2 --save-state $f > /dev/null && { heddle run test/golden/state/models/cell_two_scales.onnx --state hn=h --load-state $f 2>&1 | sed "s|$f|FILE|"; rm $f; }
#= heddle run: net: the state is of another network (fingerprint 0x0d0b3558), this one is 0x8cd81aa6; save one with this network
#=   in FILE
