# 60,000 rows of 4,097 bytes in DRAM, 246 MB of odd places: what the check keeps is by row, not by byte. The last byte of a row in the middle races. (Under a sanitizer, whose own memory exceeds the limit, there is none.)
# RUN: ulimit -Sv 200000; heddle machines > /dev/null 2>&1 || ulimit -Sv unlimited; heddle check %s
# EXIT: 1
lx.load sig=0 seg=1 src=0 dst=0 run=4097 n1=1 n2=1 n3=1
st.store wait=0 seg=1 src=0 dst=0x2001 run=4097 n1=60000 n2=1 n3=1 d1=4099 s1=0
lx.load src=0x7548f91 dst=0x1040 run=1
seq.halt
#= error: bundle 2, word 25: race, read after write: lx reads arena bytes 122982289, which st.store of bundle 1, word 14, writes; no semaphore puts them in order
#=     lx.load src=0x7548f91 dst=0x1040 run=1
#= test/golden/check/long_rows.t: 1 program, 4 bundles, 4 operations: 1 errors, 0 warnings
