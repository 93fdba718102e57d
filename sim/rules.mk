SRCS += sim/axi_mem.c sim/iss.c sim/iss_fetch.c sim/iss_issue.c sim/iss_time.c sim/iss_bank.c sim/iss_vx_time.c sim/iss_load.c sim/iss_store.c sim/iss_dma.c sim/iss_mx.c sim/iss_vx.c
SRCS += sim/mach_dev.c sim/mach_report.c sim/iss_dev.c sim/rtl_dev.c sim/rtl_find.c sim/rtl_jobs.c sim/rtl_part.c sim/iss_cut.c
SRCS += sim/trace.c

test-models: test-trace
test-trace: heddle rtl-base ## traces of both simulators have their form and add up to the counters
	$(Q)set -e; t=$(B)/trace.json; for d in iss rtl; do for o in --seed=1 --mem-jitter=3 --no-latency-hiding; do \
	    $(B)/heddle run test/models/digits --device $$d $$o --trace $$t > /dev/null; \
	    python3 scripts/check_trace.py $$t; done; done
test-models: test-jobs
test-jobs: heddle rtl-tiny ## a run of the RTL in parts on several processes is one run
	$(Q)python3 scripts/check_jobs.py $(B)/heddle $(B)/jobs
nightly: test-iss-cycles
# iss-vs-rtl runs each network at three latencies.
test-iss-cycles: heddle rtl-base rtl-nano rtl-lean ## ISS and RTL take the same cycles, layer by layer, on base, nano and lean
	$(Q)$(if $(wildcard $(SHARED)),set -e; for m in base nano lean; do \
	    $(B)/heddle bench iss-vs-rtl $(ESTIMATED:%=$(SHARED)/%) --machine $$m; done,echo "  no $(SHARED): no networks are compared")
.PHONY: test-trace test-jobs test-iss-cycles
CXX_HEADERS += sim/rtl_top.h sim/rtl_wave.h sim/rtl_guide.h sim/rtl_memory.h
