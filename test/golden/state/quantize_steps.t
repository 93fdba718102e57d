# A quantised network with states, step by step: the same on every device.
# RUN: d=$(mktemp -d); s='--state cache_out=cache --state h_out=h'; heddle quantize test/golden/state/models/frames.onnx $s --calibrate test/golden/state/models/frames.npy -o $d/q.onnx > /dev/null || exit 1; for v in golden cpu iss rtl; do heddle run $d/q.onnx $s --inputs test/golden/state/models/frames.npy --device $v --machine tiny --steps 6 --outputs $d/$v.npz --save-state $d/$v.state > /dev/null 2>&1 || exit 1; cmp $d/golden.npz $d/$v.npz; cmp $d/golden.state $d/$v.state; done; wc -c < $d/golden.state; rm -r $d && echo all equal
#= 308
#= all equal
