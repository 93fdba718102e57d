# Waveforms are read back by the library that Verilator writes them with, and compared with a trace.
FST_DIR   = $(shell verilator --getenv VERILATOR_ROOT)/include/gtkwave
FST_TEXT := build/tools/fst_text
FST_TOGGLES := build/tools/fst_toggles
$(FST_TEXT) $(FST_TOGGLES): build/tools/%: test/wave/%.c
	@mkdir -p $(@D); echo "  CC    $@"
	$(Q)$(CC) -O1 -I$(FST_DIR) -DFST_CONFIG_INCLUDE='"fst_config.h"' $< $(FST_DIR)/fstapi.c $(FST_DIR)/lz4.c $(FST_DIR)/fastlz.c -lz -o $@

test-models: test-wave
test-wave: heddle rtl-tiny rtl-wave-tiny $(FST_TEXT) ## waveforms say what the trace of the same run says
	$(Q)python3 test/wave/check.py $(B)/heddle $(FST_TEXT)

# Half an hour of a processor, nearly all of it for models with all signals.
ORDER_MACHINES := nano,tiny,tiny+k=16+axi_bits=128,tiny+n=16,tiny+vx_cycles=4+xm_bytes=65536,lean
ORDER_NETS     := test/models/digits $(addprefix ../shared/models/,mlperf_kws_dscnn_int8_qdq mlperf_ad_autoencoder_int8_qdq mlperf_ic_resnet8_int8_qdq mnist8)
energy-order: heddle $(FST_TOGGLES) ## the order of energies of runs is that of toggles in the RTL
	$(Q)python3 scripts/energy_order.py $(B)/heddle $(FST_TOGGLES) build/energy-order 0.8 $(ORDER_MACHINES) $(ORDER_NETS)
.PHONY: test-wave energy-order
