# The device xrt behind the real XRT, in hardware emulation. Skipped with a line where libxrt is not installed.

XRT_HERE = $(shell ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2' || \
             PATH=$$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2')

test-xrt: heddle rtl-base $(B)/test/xrt/plain_host $(B)/test/device/test_device ## device xrt in hardware emulation
	$(Q)if [ -z "$(XRT_HERE)" ]; then echo "  SKIP  test-xrt: libxrt is not installed; scripts/deps.sh xrt installs it"; \
	    elif [ -z "$(filter release debug,$(BUILD))" ]; then echo "  SKIP  test-xrt: XRT runs with BUILD=release, debug only"; \
	    else test/xrt/run.sh $(B); fi
test: test-xrt

.PHONY: test-xrt
.PRECIOUS: $(B)/test/xrt/%
