# Area of the RTL by yosys. Not part of `make test`: it takes minutes and needs yosys (scripts/deps.sh formal).

SYNTH ?= tiny base

synth: $(SYNTH:%=synth-%) ## area per module, compared with hw/synth/budget.txt (SYNTH="tiny base"); BLESS=1 writes that; MODULE="hd_sem" alone
synth-%: $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/%/hd_cfg_pkg.sv
	$(Q)$(need_yosys)
	$(Q)python3 hw/synth/synth.py build/synth $(GEN) $* hw/synth/budget.txt $(if $(BLESS),--bless) $(MODULE) -- $(RTL_SRCS)

AREA_MODEL = python3 hw/synth/area_model.py build/synth $(GEN_BIN) compiler/area/area.def compiler/area/features.def
area-model: $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv ## areas of modules by yosys -> compiler/area/area.def, what is cached left alone; CHECK="tiny base:k=8" compares machines with it
	$(Q)$(need_yosys)
	$(Q)$(AREA_MODEL) $(if $(CHECK),check $(CHECK),fit) -- $(RTL_SRCS)

.PHONY: synth area-model
