# RUN: heddle expr %s --schedule 'pack y w 0 16 wp; split y n 16 no ni; reorder y no m k ni; bind y no block.x; bind y ni thread.x'
(x: i8[3,32], w: i8[40,32]) -> y
y[m,n] += i32(x[m,k]) * i32(w[n,k])
#= buffer wp: i8[3,32,16]
#= for wp_0 < 3
#=   for wp_1 < 32
#=     for wp_2 < 16
#=       wp[wp_0,wp_1,wp_2] = pad(w[wp_0*16 + wp_2,wp_1], 0)
#= for no < 3 block.x
#=   for m < 3
#=     for ni < 16 thread.x
#=       if no*16 + ni < 40
#=         y[m,no*16 + ni] = 0
#=     for k < 32
#=       for ni < 16 thread.x
#=         if no*16 + ni < 40
#=           y[m,no*16 + ni] += i32(x[m,k])*i32(wp[no,k,ni])
