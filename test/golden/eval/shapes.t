# Data sets of 1, 3, 1 and 2 images: compiled once for each shape, on any device.
# RUN: heddle eval test/golden/quantize/batch.onnx --data test/golden/quantize/shapes --device golden | grep -v samples/s
# RUN: heddle quantize test/golden/quantize/batch.onnx --device golden --calibrate test/golden/quantize/shapes -o /tmp/heddle_golden_eval.onnx > /dev/null
# RUN: heddle eval /tmp/heddle_golden_eval.onnx --data test/golden/quantize/shapes --device iss | grep "samples of"
#= test/golden/quantize/batch.onnx on golden, 4 samples of test/golden/quantize/shapes
#= nothing to compare with: give --labels FILE
#= /tmp/heddle_golden_eval.onnx on iss, 4 samples of test/golden/quantize/shapes
