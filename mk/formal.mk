# Proofs of the control parts of the RTL. Not part of `make test`: they need yosys (scripts/deps.sh formal).

PROVE := hd_skid hd_fifo hd_unpack hd_sem hd_burst hd_rd_arb hd_csr hd_fetch hd_lx_gen hd_lw hd_st_gen hd_st_data
empty :=
space := $(empty) $(empty)
comma := ,

need_yosys = command -v yosys > /dev/null || \
    { echo "$@: yosys is missing: run 'scripts/deps.sh formal'" >&2; exit 1; }

formal: $(foreach m,$(MACHINES),$(call PKGS,$(m))) ## prove handshakes, FIFOs, arbiters, semaphores (PROVE=hd_fifo for one)
	$(Q)$(need_yosys)
	$(Q)python3 hw/formal/prove.py build/formal $(GEN) $(subst $(space),$(comma),$(MACHINES)) $(PROVE) -- $(RTL_SRCS)

.PHONY: formal
