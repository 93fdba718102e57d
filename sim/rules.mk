SRCS += sim/axi_mem.c sim/iss.c sim/iss_issue.c sim/iss_time.c sim/iss_bank.c sim/iss_dma.c sim/iss_mx.c sim/iss_vx.c
SRCS += sim/mach_dev.c sim/mach_report.c sim/iss_dev.c sim/rtl_dev.c
