# The kernel for boards. Needs Vivado and v++ (Vitis 2022.1 or later); docs/bringup.md.
#   make kernel [MACHINE=base|FILE]
#   make xclbin PLATFORM=u250 [MACHINE=base|FILE] [MACHINE_ARGS="base k=8"] [TARGET=hw|hw_emu] [DEBUG=1]

PLATFORM ?=
MACHINE  ?= base
TARGET   ?= hw
DEBUG    ?= 0
XRT_ARGS  = $(or $(MACHINE_ARGS),$(MACHINE))
empty     :=
space     := $(empty) $(empty)
XRT_NAME  = $(subst $(space),+,$(notdir $(XRT_ARGS)))
XRT_DIR   = build/xrt/$(XRT_NAME)
XRT_OUT   = $(XRT_DIR)/heddle_$(firstword $(subst :, ,$(PLATFORM)))_$(TARGET).xclbin
KERNEL_SRCS = $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(XRT_DIR)/hd_cfg_pkg.sv $(RTL_SRCS) $(XRT_DIR)/hd_kernel.v $(wildcard hw/rtl/*.svh)

kernel-files: $(GEN_BIN) $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv ## what packages the RTL for Vitis, in build/xrt/MACHINE
	$(Q)mkdir -p $(XRT_DIR)
	$(Q)set -e; for f in kernel-xml:kernel.xml kernel-tcl:regs.tcl cfg-sv:hd_cfg_pkg.sv; do \
	    $(GEN_BIN) $${f%%:*} $(XRT_ARGS) > $(XRT_DIR)/$${f#*:}; done
	$(Q)bits=$$(sed -n 's/^set hd_axi_bits //p' $(XRT_DIR)/regs.tcl) && \
	    sed "s/\(C_M_AXI_GMEM_DATA_WIDTH = \)128/\1$$bits/; s/\(C_DEBUG = \)0/\1$(DEBUG)/" hw/xrt/hd_kernel.v > $(XRT_DIR)/hd_kernel.v
	$(Q)printf '%s\n' $(KERNEL_SRCS) > $(XRT_DIR)/sources.txt
	$(Q)[ -z "$(PLATFORM)" ] || hw/xrt/board.sh link $(PLATFORM) $$(sed -n 's/^set hd_clock_mhz //p; s/^set hd_cores //p' $(XRT_DIR)/regs.tcl) > $(XRT_DIR)/link_$(firstword $(subst :, ,$(PLATFORM))).cfg

kernel: kernel-files ## hd_kernel.xo of MACHINE=NAME|FILE by Vivado, for PLATFORM (default u250); without it the files it takes
	$(Q)if ! command -v vivado > /dev/null; then echo "$(XRT_DIR): what Vivado packages; it is not in PATH (docs/bringup.md)"; else \
	    vivado -mode batch -nojournal -log $(XRT_DIR)/vivado.log -source hw/xrt/package_kernel.tcl -tclargs $(XRT_DIR)/hd_kernel.xo \
	    $(XRT_DIR)/package $$(hw/xrt/board.sh part $(or $(PLATFORM),u250)) $(XRT_DIR)/regs.tcl $(XRT_DIR)/kernel.xml $$(cat $(XRT_DIR)/sources.txt); fi

# v++ and vivado, or what to do
need_vitis = for t in vivado v++; do command -v $$t > /dev/null || { \
    echo "make xclbin: $$t is not in PATH. It is part of AMD Vitis 2022.1 or later: source its settings64.sh, and see docs/bringup.md." \
         "Without it, the same RTL runs behind XRT's hardware emulation: make test-xrt" >&2; exit 1; }; done

xclbin: ## kernel for a board, by Vitis: PLATFORM=u250|u280|u55c MACHINE=base TARGET=hw|hw_emu
	$(Q)[ -n "$(PLATFORM)" ] || { echo "make xclbin: PLATFORM is not set: PLATFORM=u250, u280, u55c (hw/xrt/platforms.txt)" >&2; exit 1; }
	$(Q)hw/xrt/board.sh platform $(PLATFORM) > /dev/null
	$(Q)case "$(TARGET)" in hw | hw_emu) ;; *) echo "make xclbin: TARGET=$(TARGET): want hw or hw_emu" >&2; exit 1 ;; esac
	$(Q)$(need_vitis)
	$(Q)$(MAKE) --no-print-directory kernel
	$(Q)v++ -l -t $(TARGET) --platform $$(hw/xrt/board.sh platform $(PLATFORM)) --temp_dir $(XRT_DIR)/link --log_dir $(XRT_DIR)/log \
	    --config $(XRT_DIR)/link_$(firstword $(subst :, ,$(PLATFORM))).cfg -o $(XRT_OUT) $(XRT_DIR)/hd_kernel.xo
	@echo "$(XRT_OUT): try 'build/heddle xclbin info' on it"

test-kernel: kernel-files ## the kernel's packaging, with stand-ins for Vivado and Vitis
	$(Q)if command -v tclsh > /dev/null; then test/xrt/package.sh; else echo "  SKIP  test-kernel: tclsh is missing (package tcl)"; fi
test: test-kernel

.PHONY: kernel-files kernel xclbin test-kernel
