# The machine as its registers show it.
CHIP := $(B)/test/chip/test_chip
$(CHIP): $(B)/test/chip/chip.o $(B)/test/chip/ends.o
test-chip: $(CHIP) rtl-tiny ## rates, counters, errors, reset, interrupt: programs on iss and rtl, by registers
	$(Q)HEDDLE_RTL_DIR=build/rtl $(CHIP)
test: test-chip
.PHONY: test-chip
