# Waveforms are read back by the library that Verilator writes them with, and compared with a trace.
FST_DIR   = $(shell verilator --getenv VERILATOR_ROOT)/include/gtkwave
FST_TEXT := build/tools/fst_text
$(FST_TEXT): test/wave/fst_text.c
	@mkdir -p $(@D); echo "  CC    $@"
	$(Q)$(CC) -O1 -I$(FST_DIR) -DFST_CONFIG_INCLUDE='"fst_config.h"' $< $(FST_DIR)/fstapi.c $(FST_DIR)/lz4.c $(FST_DIR)/fastlz.c -lz -o $@

test-models: test-wave
test-wave: heddle rtl-tiny rtl-wave-tiny $(FST_TEXT) ## waveforms say what the trace of the same run says
	$(Q)python3 test/wave/check.py $(B)/heddle $(FST_TEXT)
.PHONY: test-wave
