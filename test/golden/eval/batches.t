# Six samples one by one and three at a time; four at a time they do not come out even. Of equal elements
# the first counts as the largest.
# RUN: heddle eval test/golden/eval/open.onnx --data test/golden/eval/six.npy --labels test/golden/eval/classes.npy --shape N=1 | grep top
# RUN: heddle eval test/golden/eval/open.onnx --data test/golden/eval/six.npy --labels test/golden/eval/classes.npy --shape N=3 | grep top
# RUN: heddle eval test/golden/eval/open.onnx --data test/golden/eval/six.npy --labels test/golden/eval/values.npy --shape N=3 | grep -E 'top|error'
# RUN: heddle eval test/golden/eval/open.onnx --data test/golden/eval/six.npy --shape N=4 2>&1 || true
#= top-1 66.67 %: the label is first 4 times
#= top-5 100.00 %: among five 6 times
#= top-1 66.67 %: the label is first 4 times
#= top-5 100.00 %: among five 6 times
#= top-1 100.00 %: the largest element is first 6 times
#= top-5 100.00 %: among five 6 times
#= error of output y: mean 0.0833333, largest 2, 18.8 dB
#= heddle eval: test/golden/eval/six.npy: no array fits input x, want f32[4,4], or more samples along its first dimension
