# RUN: heddle opt test/golden/custom/wrong.onnx
# EXIT: 1
#= heddle opt: expression, line 1, column 12 ('+k] / 3 where i < 8, k <'): index 0 of 'x' runs from 0 to 9, allowed 0 to 7; or read pad(x[...], 0)
#=   in node 'blur' (expression)
#=   while importing test/golden/custom/wrong.onnx
