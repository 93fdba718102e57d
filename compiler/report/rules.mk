# The page of --report: looked at in a browser.
test-report: heddle
	$(Q)python3 scripts/check_report.py $(B)/heddle $(wildcard $(SHARED)/mobilenet_v2_qdq_int8)

# D3 of Debian's libjs-d3, as bytes; none where it is not installed (D3= leaves it out).
D3 := $(wildcard /usr/share/javascript/d3/d3.min.js)
$(B)/compiler/report/d3.inc: $(D3) compiler/report/rules.mk
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)cat $(or $(D3),/dev/null) | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$$/,/' > $@
# Style, script and the licence of D3 as C strings, a line each.
PAGE := page.css elements.js page.js d3.txt d3
$(B)/compiler/report/%.inc: compiler/report/page/%
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n",/' $< > $@
$(B)/compiler/report/html.o: $(PAGE:%=$(B)/compiler/report/%.inc)
FLAGS_compiler/report/html.c = -I$(B)/compiler/report
