# Area and clock of the RTL by yosys and hw/synth. Not part of `make test`: it takes minutes and needs yosys (scripts/deps.sh formal).

SYNTH ?= tiny nano lean base k26

synth: $(SYNTH:%=synth-%) ## area per module and longest paths, compared with hw/synth/budget.txt (SYNTH="tiny nano lean base k26"); BLESS=1 writes that; MODULE="hd_sem" alone
synth-%: $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/%/hd_cfg_pkg.sv
	$(Q)$(need_yosys)
	$(Q)$(PYTHON) hw/synth/synth.py build/synth $(GEN) $* hw/synth/budget.txt isa/clock.def $(if $(BLESS),--bless) $(MODULE) -- $(RTL_SRCS)

AREA_MODEL = $(PYTHON) hw/synth/area_model.py build/synth $(GEN_BIN) compiler/area/area.def compiler/area/features.def
area-model: $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv ## areas of modules by yosys -> compiler/area/area.def, what is cached left alone; CHECK="tiny base:k=8" compares machines with it
	$(Q)$(need_yosys)
	$(Q)$(AREA_MODEL) $(if $(CHECK),check $(CHECK),fit) -- $(RTL_SRCS)

test-timing: ## small netlists whose longest path is known by hand, against hw/synth/timing.py
	$(Q)$(PYTHON) test/synth/test_timing.py
test: test-timing

.PHONY: synth area-model test-timing
