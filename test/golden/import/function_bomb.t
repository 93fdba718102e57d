# RUN: heddle opt test/golden/import/models/function_bomb.onnx
# EXIT: 1
#= heddle opt: node 'f/n0/n0/n0/n0/n0/n0/n2/n10/n7/n3' (F10): bodies of functions add over 131072 nodes
#=   in function 'F9' of node 'f/n0/n0/n0/n0/n0/n0/n2/n10/n7'
#=   in function 'F8' of node 'f/n0/n0/n0/n0/n0/n0/n2/n10'
#=   in function 'F7' of node 'f/n0/n0/n0/n0/n0/n0/n2'
#=   in function 'F6' of node 'f/n0/n0/n0/n0/n0/n0'
#=   in function 'F5' of node 'f/n0/n0/n0/n0/n0'
#=   in function 'F4' of node 'f/n0/n0/n0/n0'
#=   in function 'F3' of node 'f/n0/n0/n0'
#=   in function 'F2' of node 'f/n0/n0'
#=   in function 'F1' of node 'f/n0'
#=   in function 'F0' of node 'f'
#=   while importing test/golden/import/models/function_bomb.onnx
