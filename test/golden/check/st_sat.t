# RUN: heddle check %s
# EXIT: 1
lx.load mem=1 seg=1 run=4096 n1=1 n2=1 n3=1
seq.barrier
st.store seg=1 sat=1 run=4 n1=1 n2=1 n3=1
st.store seg=1 sat=1 mem=1 src=2 run=4 n1=1 n2=1 n3=1 s1=4
st.store seg=1 sat=3 mem=1 src=0 run=3 n1=1 n2=1 n3=1 s1=4
st.store seg=1 sat=2 mem=1 src=0 run=32769 n1=1 n2=1 n3=1 s1=4
seq.halt
#= error: bundle 2, word 13: sat is 1 with mem 0, only int32 of AM (mem=1) saturate
#=     st.store seg=1 sat=1 run=4 n1=1 n2=1 n3=1
#= error: bundle 3, word 19: src, s1, s2, s3 are 2, 4, 0, 0; with sat multiples of 4
#=     st.store seg=1 mem=1 sat=1 src=2 run=4 n1=1 n2=1 n3=1 s1=4
#= error: bundle 4, word 27: run is 3, with sat=3 (int16) an even number
#=     st.store seg=1 mem=1 sat=3 src=0 run=3 n1=1 n2=1 n3=1 s1=4
#= error: bundle 5, word 35: AM words from 0 to 2048, the memory has 0 to 2047
#=     st.store seg=1 mem=1 sat=2 src=0 run=0x8001 n1=1 n2=1 n3=1 s1=4
#= test/golden/check/st_sat.t: 1 program, 7 bundles, 7 operations: 4 errors, 0 warnings
