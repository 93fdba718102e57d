# RUN: heddle expr %s
# EXIT: 1
# The window of i runs over the edge of x.
(x: i8[8]) -> y
y[i] += i32(x[i + k - 1]) where i < 8, k < 3
#= heddle expr: expression, line 5, column 21 ('- 1]) where i < 8, k < 3'): index 0 of 'x' runs from -1 to 8, allowed 0 to 7; or read pad(x[...], 0)
