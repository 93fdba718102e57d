# RUN: heddle expr %s --emit c
# EXIT: 1
(x: f16[3,2]) -> y
y[m] argmax= x[m,k]
#= heddle expr: 'x' is f16, which C has no type for
#=   while printing 'expression' as C
