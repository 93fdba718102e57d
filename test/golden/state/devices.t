# Every device goes the same way, and one goes on from what another saved.
# RUN: d=$(mktemp -d); r() { heddle run test/golden/state/models/cell.onnx --state hn=h "$@" > /dev/null 2>&1 || exit 1; }; for v in golden cpu iss rtl; do r --device $v --machine tiny --steps 5 --outputs $d/$v.npz --save-state $d/$v.state; cmp $d/golden.npz $d/$v.npz; cmp $d/golden.state $d/$v.state; done; r --device iss --machine tiny --steps 3 --save-state $d/3; r --device cpu --steps 2 --seed 4 --load-state $d/3 --save-state $d/5; cmp $d/5 $d/golden.state && rm -r $d && echo all equal
#= all equal
