test-models: test-cosim-vx
test-cosim-vx: $(B)/test/cosim/random_vx rtl-tiny ## random vector programs, ISS against RTL
	$(Q)HEDDLE_RTL_DIR=build/rtl $< --machine tiny --count 50
.PHONY: test-cosim-vx
