# RUN: heddle opt --pass axes %s
# EXIT: 1
graph g {
  input a f32[N=2,3]
  input b f32[N=2]
  y ? = add(a, b) by="name"
  output y
}
#= heddle opt: node 'y' (add): operand 'a': dimension 1 has no name
