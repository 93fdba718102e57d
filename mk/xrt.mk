# The device xrt behind the real XRT, in hardware emulation. Skipped with a line where libxrt is not installed.

XRT_HERE = $(shell ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2' || \
             PATH=$$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null | grep -o -m1 'libxrt_coreutil\.so\.2')

$(B)/test/xrt/nosleep.so: test/xrt/nosleep.c
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC -std=c11 -D_XOPEN_SOURCE=700 -O1 $< -o $@
test-xrt: heddle rtl-base $(B)/test/xrt/nosleep.so $(B)/test/xrt/plain_host $(B)/test/device/test_device $(RANDOM_NET) ## device xrt in hardware emulation
	$(Q)if [ -z "$(XRT_HERE)" ]; then echo "  SKIP  test-xrt: libxrt is not installed; scripts/deps.sh xrt installs it"; \
	    elif [ -z "$(filter release debug,$(BUILD))" ]; then echo "  SKIP  test-xrt: XRT runs with BUILD=release, debug only"; \
	    else test/xrt/run.sh $(B); fi
test: test-xrt

.PHONY: test-xrt
.PRECIOUS: $(B)/test/xrt/%
