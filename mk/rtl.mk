# Generated files and the RTL models. Both are the same in every build mode, so they live outside
# the mode trees: build/gen, build/rtl/NAME/lib.so and, for a program, build/rtl/libhd_rtl_NAME.so.
# build/<mode>/rtl is a link to build/rtl, where the program looks. hw/rules.mk gives RTL_SRCS in
# dependency order, without the generated packages.

# Where all of them go: a program whose source tree cannot be written says a folder of its user.
BUILD_DIR := build
GEN_BIN   := $(BUILD_DIR)/tools/gen
GEN       := $(BUILD_DIR)/gen
MACHINES := tiny base big
NAMED    := $(MACHINES) nano lean k26
RTL_TOP  ?= hd_top
RTL_SIM  := hd_sim

# ---- the printer and what it prints --------------------------------------------------------
$(GEN_BIN): $(isa/gen_SRCS) isa/isa.h isa/gen.h isa/isa.def isa/machine.def isa/clock.h isa/clock.def isa/timing.def isa/regs.def runtime/base/fn.def runtime/base/fn.h runtime/base/status.h
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)$(CC) -I. -std=c11 -D_XOPEN_SOURCE=700 -O1 $(WARN) $(isa/gen_SRCS) -o $@.tmp.$$$$ && mv $@.tmp.$$$$ $@

# Rewrites a file only when its text changes, so that a comment in a table rebuilds no model.
print = @mkdir -p $(@D); $(GEN_BIN) $(1) > $@.tmp.$$$$ && { cmp -s $@.tmp.$$$$ $@ || cp $@.tmp.$$$$ $@; } \
        && rm -f $@.tmp.$$$$

$(GEN)/hd_isa_pkg.sv: $(GEN_BIN) FORCE ; $(call print,isa-sv)
$(GEN)/hd_reg_pkg.sv: $(GEN_BIN) FORCE ; $(call print,reg-sv)
$(GEN)/isa.md: $(GEN_BIN) scripts/wrap_md.awk FORCE ; $(call print,md | awk -f scripts/wrap_md.awk)
# $* is a machine's name, or a hash that comes with RTL_ARGS.
$(GEN)/%/hd_cfg_pkg.sv: $(GEN_BIN) FORCE ; $(call print,cfg-sv $(or $(RTL_ARGS),$*))

PKGS = $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/$(1)/hd_cfg_pkg.sv
gen: $(call PKGS,base) $(call PKGS,tiny) $(call PKGS,big) $(GEN)/isa.md ## write SystemVerilog packages and docs/isa.md
	$(Q)cmp -s $(GEN)/isa.md docs/isa.md || cp $(GEN)/isa.md docs/isa.md
gen: gen-man
gen-man: heddle ## write docs/man/heddle.1
	$(Q)$(B)/heddle help --man > $(B)/heddle.1 && { cmp -s $(B)/heddle.1 docs/man/heddle.1 || cp $(B)/heddle.1 docs/man/heddle.1; }

# ---- Verilator models ----------------------------------------------------------------------
RTL_CXX   := $(or $(shell command -v clang++ 2> /dev/null),g++)
# Without SSE4a: on AMD processors clang picks its insertq, microcode that took a third of the time.
RTL_OPT   := -O3 $(NATIVE) $(if $(NATIVE),-mno-sse4a)
RTL_FLAGS := -O3 --x-assign fast --x-initial fast
RTL_DEPS  := $(RTL_SRCS) $(sort $(wildcard hw/rtl/*.svh hw/lint/*.vlt sim/axi_mem.h sim/rtl_*.h sim/*.sv sim/rtl_model.cc sim/rtl_wave.cc)) \
             isa/isa.h isa/gen.h isa/isa.def isa/machine.def isa/timing.def isa/regs.def runtime/base/fn.def

# $(1) output folder, $(2) extra Verilator flags, $(3) file that lists the sources, if not RTL_SRCS
define rtl_rule
$(BUILD_DIR)/$(1)/%/lib.so: $(RTL_DEPS) $(3) $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/%/hd_cfg_pkg.sv
	@echo "  VLT   $(BUILD_DIR)/$(1)/$$*"; mkdir -p $$(@D)
	$$(Q)rm -f $$(@D)/obj/rtl_model.[od] # its list of headers may name one that has moved
	$$(Q)flock -o $$(@D) scripts/with_progress.sh $$(@D)/obj $$(@D) verilator --cc --exe --build -j 2 $(RTL_FLAGS) $(2) -Wno-fatal -Wno-lint -Wno-style -Ihw/rtl \
	    --Mdir $$(@D)/obj --top-module $(RTL_SIM) --prefix V$(RTL_SIM) \
	    -CFLAGS "-fPIC -std=c++17 -I$(CURDIR)" -LDFLAGS "-shared -Wl,-Bsymbolic" $$(RTL_EXTRA) \
	    -MAKEFLAGS "CXX=$(RTL_CXX) LINK=$(RTL_CXX) OPT_FAST='$$(RTL_OPT)' OPT_GLOBAL='$$(RTL_OPT)'" \
	    -o $$(abspath $$@).tmp $$(call PKGS,$$*) $(if $(3),-f $$(@D)/sources,$(RTL_SRCS)) sim/$(RTL_SIM).sv $(CURDIR)/sim/rtl_model.cc \
	    3>&1 > $$(@D)/log 2>&1 && mv $$@.tmp $$@ || { cat $$(@D)/log; exit 1; }
$(BUILD_DIR)/$(1)/libhd_rtl_%.so: $(BUILD_DIR)/$(1)/%/lib.so
	$$(Q)ln -sf $$*/lib.so $$@
endef
$(eval $(call rtl_rule,rtl,--noassert))
# What --wave runs: all signals kept, and written to a file on demand.
$(eval $(call rtl_rule,rtl-wave,--noassert --trace-fst --trace-structs --trace-max-width 1024))
$(BUILD_DIR)/rtl-wave/%/lib.so: RTL_OPT := -O1
$(BUILD_DIR)/rtl-wave/%/lib.so: RTL_EXTRA := $(CURDIR)/sim/rtl_wave.cc -LDFLAGS -lz
$(eval $(call rtl_rule,rtl-assert,--assert +define+HD_CHECKS))
# Every unit clocked in every cycle, as synthesised: what hd_gate leaves out must not be seen.
$(eval $(call rtl_rule,rtl-ungated,--noassert +define+HD_UNGATED))
# As yosys reads it: what is counted and proved is what is simulated. sim/rtl_model.cc looks by name into the modules
# of YOSYS_LEAVES, which stay as they are.
YOSYS_LEAVES := hd_top hd_core hd_csr hd_sem hd_issue hd_fetch hd_rd_arb *hd_front* hd_mac_array
$(BUILD_DIR)/rtl-yosys/%/sources: $(RTL_DEPS) $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/%/hd_cfg_pkg.sv
	$(Q)$(need_yosys)
	$(Q)mkdir -p $(@D) && yosys -q -p "read_verilog -sv -defer -D SYNTHESIS -Ihw/rtl $(call PKGS,$*) $(RTL_SRCS); \
	    hierarchy -top $(RTL_TOP); proc; delete $(YOSYS_LEAVES); write_verilog -noattr $(@D)/read.v" > $(@D)/log 2>&1 || { cat $(@D)/log; exit 1; }
	$(Q)for f in $(RTL_SRCS); do grep -q "^module $$(basename $$f .sv)(" $(@D)/read.v || echo $$f; done > $@.tmp && \
	    echo $(@D)/read.v >> $@.tmp && mv $@.tmp $@
.SECONDARY: $(MACHINES:%=$(BUILD_DIR)/rtl-yosys/%/sources)
$(eval $(call rtl_rule,rtl-yosys,--noassert,$(BUILD_DIR)/rtl-yosys/%/sources))
$(BUILD_DIR)/rtl-yosys/%/lib.so: RTL_OPT := -O1
# Without splitting of always blocks: a counter behind `if (x < b) b = x;` would be put behind the assignment.
$(eval $(call rtl_rule,rtl-cov,--noassert -fno-split --coverage-line --coverage-toggle))
$(BUILD_DIR)/rtl-cov/%/lib.so: RTL_OPT := -O1

rtl-wave: $(MACHINES:%=rtl-wave-%) ## models that write waveforms (run --wave); --wave builds its own
$(NAMED:%=rtl-wave-%): rtl-wave-%: $(BUILD_DIR)/rtl-wave/libhd_rtl_%.so
rtl: $(MACHINES:%=rtl-%) ## build the RTL models of tiny, base and big (or rtl-base alone)
$(NAMED:%=rtl-%): rtl-%: $(BUILD_DIR)/rtl/libhd_rtl_%.so
# The same model, compiled by what a run of it counted. It stays until the RTL changes.
PROFILE := $(BUILD_DIR)/profile
rtl-profiled: rtl-profiled-tiny rtl-profiled-base ## RTL models of tiny and base (or rtl-profiled-lean alone), a tenth faster: clang, by the counts of two runs
$(NAMED:%=rtl-profiled-%): rtl-profiled-%: heddle
	$(Q)case $(RTL_CXX) in *clang*) command -v llvm-profdata > /dev/null ;; *) false ;; esac || \
	    { echo "$@: wants clang++ and llvm-profdata (Debian: clang, llvm)" >&2; exit 1; }
	$(Q)rm -f $(PROFILE)/$*-*.raw
	$(Q)$(MAKE) --no-print-directory BUILD_DIR=$(PROFILE) $(PROFILE)/rtl/libhd_rtl_$*.so \
	    RTL_OPT="$(RTL_OPT) -fprofile-instr-generate" RTL_EXTRA="-LDFLAGS -fprofile-instr-generate"
	$(Q)export HEDDLE_RTL_DIR=$(PROFILE)/rtl LLVM_PROFILE_FILE=$(CURDIR)/$(PROFILE)/$*-%p.raw && \
	    $(B)/heddle run test/models/digits --device rtl --machine $* > /dev/null && \
	    $(B)/heddle bench sim-speed --machine $* > /dev/null
	$(Q)llvm-profdata merge -o $(PROFILE)/$*.counts $(PROFILE)/$*-*.raw && rm -f $(BUILD_DIR)/rtl/$*/lib.so
	$(Q)$(MAKE) --no-print-directory $(BUILD_DIR)/rtl/libhd_rtl_$*.so \
	    RTL_OPT="$(RTL_OPT) -fprofile-instr-use=$(CURDIR)/$(PROFILE)/$*.counts"
rtl-assert: $(MACHINES:%=$(BUILD_DIR)/rtl-assert/libhd_rtl_%.so) ## the same with assertions; HEDDLE_RTL_DIR=build/rtl-assert

RTL_KIND ?= rtl
# The model of any machine, by the hash of its parameters: MACHINE_ARGS="base k=8" OUT=file.so
rtl-custom: $(GEN_BIN) ## one RTL model: MACHINE_ARGS="base k=8" OUT=file.so
	$(Q)[ -n "$(MACHINE_ARGS)" ] && [ -n "$(OUT)" ] || \
	    { echo 'usage: make rtl-custom MACHINE_ARGS="base k=8" OUT=file.so' >&2; exit 2; }
	$(Q)h=$$($(GEN_BIN) hash $(MACHINE_ARGS)) && \
	    $(MAKE) --no-print-directory $(BUILD_DIR)/$(RTL_KIND)/$$h/lib.so RTL_ARGS="$(MACHINE_ARGS)" && \
	    { cmp -s $(BUILD_DIR)/$(RTL_KIND)/$$h/lib.so "$(OUT)" || { mkdir -p "$$(dirname "$(OUT)")" && \
      cp $(BUILD_DIR)/$(RTL_KIND)/$$h/lib.so "$(OUT).tmp" && mv "$(OUT).tmp" "$(OUT)"; }; }

.PHONY: gen rtl rtl-wave rtl-profiled rtl-assert rtl-custom $(NAMED:%=rtl-%) $(NAMED:%=rtl-wave-%) $(NAMED:%=rtl-profiled-%)
