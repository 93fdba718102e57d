# RUN: heddle bench deepbench --device cpu
# EXIT: 1
#= heddle bench: bench deepbench: device cpu has no cycles; take iss, rtl or xrt. With --db FILE the layers are timed on every device, too
