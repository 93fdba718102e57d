# RUN: heddle opt test/golden/import/models/function_forever.onnx
# EXIT: 1
#= heddle opt: node 'f/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again' (F): functions nested deeper than 16
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again/again'
#=   in function 'F' of node 'f/again/again/again'
#=   in function 'F' of node 'f/again/again'
#=   in function 'F' of node 'f/again'
#=   in function 'F' of node 'f'
#=   while importing test/golden/import/models/function_forever.onnx
