# Sizes that the file leaves open stay open by their names, unless --shape closes them.
# RUN: heddle convert test/golden/quantize/batch.onnx -o /tmp/heddle_golden_convert.onnx
# RUN: heddle run /tmp/heddle_golden_convert.onnx --shape N=3 --device golden | grep output
# RUN: heddle convert test/golden/quantize/batch.onnx --shape N=2 -o /tmp/heddle_golden_convert.onnx
# RUN: heddle run /tmp/heddle_golden_convert.onnx --device golden | grep output
#= output y f32[3,5]
#= output y f32[2,5]
