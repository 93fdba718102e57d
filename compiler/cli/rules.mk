# The conformance suite runs the RTL, too.
$(B)/test/device/test_device.ok: build/rtl/libhd_rtl_base.so
