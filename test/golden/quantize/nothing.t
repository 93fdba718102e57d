# RUN: heddle quantize test/models/digits -o /tmp/heddle_golden_q.onnx
# EXIT: 1
#= heddle quantize: test/models/digits/model.onnx: nothing to quantise: no convolution or product by constant float weights that is not kept, and nothing between integers without a scale
