# RUN: heddle opt test/golden/import/models/function_operands.onnx
# EXIT: 1
#= heddle opt: node 'f' (F): 2 inputs and 1 outputs, the function has 1 and 1
#=   while importing test/golden/import/models/function_operands.onnx
