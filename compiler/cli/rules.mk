# `make demo`: the digits network on the RTL, all held-out images.
demo: demo-digits
demo-digits: heddle rtl-base
	$(Q)$(B)/heddle demo test/models/digits
.PHONY: demo-digits

# The conformance suite runs the RTL, too.
$(B)/test/device/test_device.ok: build/rtl/libhd_rtl_base.so
