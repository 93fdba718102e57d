# The conformance suite runs the RTL, too.
$(B)/test/device/test_device.ok: build/rtl/libhd_rtl_base.so

# The page of --report: looked at in a browser.
test-report: heddle
	$(Q)python3 scripts/check_report.py $(B)/heddle $(wildcard $(SHARED)/mobilenet_v2_qdq_int8)

# The page of --report: style and script as C strings, a line each.
PAGE := page.css page.js
$(B)/compiler/cli/%.inc: compiler/cli/page/%
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n",/' $< > $@
$(B)/compiler/cli/html.o: $(PAGE:%=$(B)/compiler/cli/%.inc)
FLAGS_compiler/cli/html.c = -I$(B)/compiler/cli
