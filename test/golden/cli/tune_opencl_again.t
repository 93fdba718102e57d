# RUN: rm -f build/tune_opencl.db && heddle tune 7x21x13 --device opencl --db build/tune_opencl.db --seconds 60 | tail -1 | sed 's/.*;//; s/[0-9][0-9]* schedules/N schedules/'
# RUN: heddle tune 7x21x13 --device opencl --db build/tune_opencl.db --seconds 60 | tail -1 | sed 's/.*;//; s/[1-9][0-9]* known/N known/'
# RUN: heddle tune 7x21x13 --device opencl --db build/tune_opencl.db --seconds 60 | grep -c 'gemm f32 7x21 [0-9a-f]*  *1  *[1-9][0-9]* .*opencl .* \(tile [0-9x]*, threads\|flat, [0-9]* threads\)'
# RUN: rm -f build/tune_opencl.db
#=  N schedules measured, 0 known before
#=  0 schedules measured, N known before
#= 1
