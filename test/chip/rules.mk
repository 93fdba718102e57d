# The machine as its registers show it.
CHIP := $(B)/test/chip/test_chip
$(CHIP): $(B)/test/chip/chip.o $(B)/test/chip/ends.o
test-chip: $(CHIP) rtl-tiny ## rates, counters, errors, reset, interrupt: programs on iss and rtl, by registers
	$(Q)HEDDLE_RTL_DIR=build/rtl $(CHIP)
HOSTILE := $(B)/test/chip/hostile
$(HOSTILE): $(patsubst %,$(B)/test/%.o,chip/bench chip/hostile_mem cosim/program cosim/random_op cosim/words)
test-hostile: $(HOSTILE) rtl-tiny ## the chip between a memory and a host that do all that AXI allows: N=50 SEED=1
	$(Q)HEDDLE_RTL_DIR=build/rtl $(HOSTILE) --count $(or $(HOSTILE_N),50) --seed $(SEED)
test: test-chip test-hostile
nightly: hostile-nightly
hostile-nightly: $(HOSTILE) rtl-tiny rtl-base ## 2,000 programs of test-hostile
	$(Q)s=$$(date +%s); for m in tiny base; do HEDDLE_RTL_DIR=build/rtl $(HOSTILE) --machine $$m --count 1000 --seed $$s || exit 1; done
.PHONY: test-chip test-hostile hostile-nightly
