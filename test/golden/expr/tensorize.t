# RUN: heddle expr %s --schedule 'split y k 4 ko ki; tensorize y ki dp4a'
# RUN: heddle expr %s --schedule 'split y k 3 ko ki; tensorize y ki dp4a'
# RUN: heddle expr %s --schedule 'split y n 5 no ni; tensorize y n dp4a'
# EXIT: 1
(x: i8[5,8], w: i8[7,8]) -> y
y[m,n] += i32(x[m,k]) * i32(w[n,k])
#= for m < 5
#=   for n < 7
#=     y[m,n] = 0
#=     for ko < 2
#=       for ki < 4 intrinsic dp4a
#=         y[m,n] += i32(x[m,ko*4 + ki])*i32(w[n,ko*4 + ki])
#= heddle expr: schedule, line 1 (tensorize): loop 'ki' of 3 iterations, allowed a reduced one of 4
