# RUN: heddle expr %s
# RUN: heddle expr %s --schedule 'split acc m 4 mo mi; reorder acc mo i j c p q mi; cache acc x i xc; vectorize acc mi; parallel acc mo'
# RUN: heddle expr %s --schedule 'compute_at acc y i; split acc m 4 mo mi; reorder acc mo i j c p q mi; vectorize acc mi; parallel y n'
(x: i8[1,3,9,9], w: i8[6,3,3,3], b: i32[6] = 0) -> y
acc[n,m,i,j] += i32(x[n,c,2*i+p,2*j+q]) * i32(w[m,c,p,q])
y[n,m,i,j] = i8.even.sat(f32(acc[n,m,i,j] + b[m]) * 0.01)
#= (x: i8[1,3,9,9], w: i8[6,3,3,3], b: i32[6] = 0.0) -> y: i8[1,6,4,4]
#= acc[n,m,i,j] += i32(x[n,c,2*i + p,2*j + q])*i32(w[m,c,p,q]) where n < 1, m < 6, i < 4, j < 4, c < 3, p < 3, q < 3
#= y[n,m,i,j] = i8.even.sat(f32(acc[n,m,i,j] + b[m])*0.01) where n < 1, m < 6, i < 4, j < 4
#= buffer acc: i32[1,6,4,4]
#= buffer xc: i8[1,3,3,9] in i
#= for n < 1
#=   for mo < 2 parallel
#=     for i < 4
#=       for xc_0 < 1
#=         for xc_1 < 3
#=           for xc_2 < 3
#=             for xc_3 < 9
#=               xc[xc_0,xc_1,xc_2,xc_3] = pad(x[n + xc_0,xc_1,2*i + xc_2,xc_3], 0)
#=       for j < 4
#=         for mi < 4 vector
#=           if mo*4 + mi < 6
#=             acc[n,mo*4 + mi,i,j] = 0
#=         for c < 3
#=           for p < 3
#=             for q < 3
#=               for mi < 4 vector
#=                 if mo*4 + mi < 6
#=                   acc[n,mo*4 + mi,i,j] += i32(xc[0,c,p,2*j + q])*i32(w[mo*4 + mi,c,p,q])
#= for n < 1
#=   for m < 6
#=     for i < 4
#=       for j < 4
#=         y[n,m,i,j] = i8.even.sat(f32(acc[n,m,i,j] + b[m])*0.01)
#= buffer acc: i32[1,1,1,4] in i
#= for n < 1 parallel
#=   for m < 6
#=     for i < 4
#=       for n_0 < 1
#=         for mo < 1
#=           for i_2 < 1
#=             for j < 4
#=               for mi < 4 vector
#=                 if mo*4 + mi < 1
#=                   acc[n_0,mo*4 + mi,i_2,j] = 0
#=               for c < 3
#=                 for p < 3
#=                   for q < 3
#=                     for mi < 4 vector
#=                       if mo*4 + mi < 1
#=                         acc[n_0,mo*4 + mi,i_2,j] += i32(x[n + n_0,c,2*(i + i_2) + p,2*j + q])*i32(w[m + (mo*4 + mi),c,p,q])
#=       for j < 4
#=         y[n,m,i,j] = i8.even.sat(f32(acc[0,0,0,j] + b[m])*0.01)
