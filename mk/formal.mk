# Proofs of the control parts of the RTL. Not part of `make test`: they need yosys (scripts/deps.sh formal).

PROVE := hd_skid hd_fifo hd_front hd_sem hd_burst hd_rd_arb hd_csr hd_fetch hd_read_bursts hd_lx_gen hd_lw hd_st_gen hd_st_data

need_yosys = command -v yosys > /dev/null || \
    { echo "$@: yosys is missing: run 'scripts/deps.sh formal'" >&2; exit 1; }

formal: $(call PKGS,tiny) ## prove handshakes, FIFOs, arbiters, semaphores (PROVE=hd_fifo for one; FRESH=1: nothing kept)
	$(Q)$(need_yosys)
	$(Q)python3 hw/formal/prove.py build/formal $(GEN) $(PROVE) -- $(RTL_SRCS)
	$(Q)yosys -q hw/formal/ram_same.ys && echo "hd_ram: the same for simulation and synthesis"

.PHONY: formal
