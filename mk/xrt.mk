# The device xrt behind the real XRT, in hardware emulation. Skipped with a line where libxrt is not installed.

XRT_HERE = $(shell ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2' || \
             PATH=$$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2')

test-xrt: heddle rtl-base $(B)/test/xrt/plain_host $(B)/test/device/test_device ## device xrt in hardware emulation
	$(Q)if [ -n "$(XRT_HERE)" ]; then test/xrt/run.sh $(B); \
	    else echo "  SKIP  test-xrt: libxrt is not installed; scripts/deps.sh xrt installs it"; fi
test: test-xrt

.PHONY: test-xrt
.PRECIOUS: $(B)/test/xrt/%
