# The scripts of its pages as C strings, a line each.
$(B)/compiler/explore/%.inc: compiler/explore/page/%
	@mkdir -p $(@D); echo "  GEN   $@"
	$(Q)sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n",/' $< > $@
$(B)/compiler/explore/page.o: $(patsubst %,$(B)/compiler/explore/%.js.inc,common explore diff)
FLAGS_compiler/explore/page.c = -I$(B)/compiler/explore
