# RUN: d=$(mktemp -d); heddle train mlp --data test/data/digits.npz --set epochs=1 -o $d/f.onnx > $d/log && heddle finetune $d/f.onnx --data test/data/digits.npz -o $d/i.onnx; e=$?; ls $d; rm -r $d; exit $e
# EXIT: 1
#= heddle finetune: mlp: no integer weights to train: int8 constants, dequantised around 0, that a convolution or product reads; `heddle quantize` makes such a file
#= f.onnx
#= log
