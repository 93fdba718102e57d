# The page of --report: looked at in a browser.
test-report: heddle
	$(Q)python3 scripts/check_report.py $(B)/heddle $(wildcard $(SHARED)/mobilenet_v2_qdq_int8)

# Its style and script as C strings, a line each.
PAGE := page.css elements.js page.js
$(B)/compiler/report/%.inc: compiler/report/page/%
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n",/' $< > $@
$(B)/compiler/report/html.o: $(PAGE:%=$(B)/compiler/report/%.inc)
FLAGS_compiler/report/html.c = -I$(B)/compiler/report
