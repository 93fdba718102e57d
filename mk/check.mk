# Static checks.

C_FOR_LINT := $(filter-out test/rtl/% test/wave/% test/mutate/%,$(ALL_C))
HEADERS    := $(filter-out test/rtl/% test/mutate/% $(CXX_HEADERS) $(ABSENT_HEADERS),$(filter %.h,$(ALL_C)))

SIZED = $(sort $(shell find $(wildcard $(FOLDERS)) hw mk scripts -type f ! -name '*.md' ! -name '*.pyc' ! -name '*.txt' \
          \( -name '*.[ch]' -o -name '*.cc' -o -name '*.def' -o -name '*.sv*' -o -name '*.py' -o -name '*.js' \
          -o -name '*.mk' -o -name '*.sh' -o -name '*.awk' \)))

check: check-top check-layers check-size check-headers check-clang check-gen check-docs lint-c lint-rtl check-repeats check-rtl-heads ## all static checks

TOP_LEVEL := hw sim driver compiler isa runtime cpu_ref gpu_ref scripts test docs mk Makefile README.md
check-top: ## the top level holds its folders and nothing else
	$(Q)for f in $(filter-out $(TOP_LEVEL),$(sort $(shell git ls-files 2> /dev/null | cut -d/ -f1))); do \
	    case $$f in .*) ;; *) echo "$$f: not of the top level: $(TOP_LEVEL)" >&2; exit 1 ;; esac; done

check-layers: heddle ## no folder includes from, or calls, a layer above it; docs/architecture.md says so
	$(Q)python3 scripts/check_layers.py test/layers.txt docs/architecture.md $(B) $(ALL_C) $(sort $(shell find $(FOLDERS) -name '*.cc' 2> /dev/null))

# The back end, in lines of code, without the printers and parsers of stages.
BACK_END       := $(wildcard $(foreach d,layer plan machine_ops cost kind partition search,compiler/$(d)/*.[ch] compiler/$(d)/*.def))
BACK_END_LINES := 10540
check-size: ## functions, structs, files and the back end as a whole are not too large
	$(Q)python3 scripts/check_size.py --test && python3 scripts/check_size.py $(SIZED)
	$(Q)python3 scripts/check_size.py --together $(BACK_END_LINES) $(filter-out %_text.c %_text.h,$(BACK_END))

# Those of libraries that are not installed are in ABSENT_HEADERS. Those of test/rtl and test/mutate are C++; another header that needs C++ is named in CXX_HEADERS by its folder's rules.mk.
check-headers: $(HEADERS:%.h=$(B)/headers/%.ok) ## every header compiles on its own
$(B)/headers/%.ok: %.h $(B)/flags
	@mkdir -p $(@D); echo '#include "$<"' | $(CC) $(OURS) $(FLAGS_$<) -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ -xc - \
	    && touch $@
-include $(if $(MODELS_ONLY),,$(wildcard $(HEADERS:%.h=$(B)/headers/%.d)))

check-gen: $(GEN)/isa.md check-man ## docs/isa.md and docs/man/heddle.1 are what the tables print
	$(Q)cmp -s $< docs/isa.md || { echo "docs/isa.md is stale: run 'make gen'" >&2; exit 1; }

check-docs: ## pages keep to docs/style.md: columns, sentences, links, names of files and targets
	$(Q)python3 scripts/check_docs.py --test > /dev/null && python3 scripts/check_docs.py

check-man: heddle ## the manual page and completion are what compiler/cli/*.def print
	$(Q)$(B)/heddle help --man | cmp -s - docs/man/heddle.1 || { echo "docs/man/heddle.1 is stale: run 'make gen'" >&2; exit 1; }
	$(Q)$(B)/heddle help --completion bash | bash scripts/check_completion.sh

# The fuzz targets are built by clang, which warns of other things than gcc; warnings are errors.
CLANG_OK := $(patsubst %.c,$(B)/clang/%.ok,$(filter-out $(if $(PY_HAVE),,runtime/python/%) runtime/ranks/mpi_% cpu_ref/jit_% cpu_ref/dnnl_% test/rtl/% test/mutate/% test/rt/% test/wave/% test/bundle/%,$(filter %.c,$(ALL_C))))
check-clang: $(if $(shell command -v clang),$(CLANG_OK)) ## clang has nothing to say about any file
$(B)/clang/%.ok: %.c $(B)/flags
	@mkdir -p $(@D); clang $(OURS) $(MODE) $(FLAGS_$<) -fsyntax-only -MMD -MP -MF $(@:.ok=.d) -MT $@ $< && touch $@
$(B)/clang/compiler/report/html.ok: $(PAGE:%=$(B)/compiler/report/%.inc)
-include $(if $(MODELS_ONLY),,$(wildcard $(CLANG_OK:.ok=.d)))

lint-c: ## clang-format and, where installed, cppcheck
	$(Q)clang-format --dry-run -Werror $(C_FOR_LINT)
	$(Q)if command -v cppcheck > /dev/null; then mkdir -p $(B)/cppcheck && \
	    cppcheck -q --error-exitcode=1 --std=c11 -I. -j2 --cppcheck-build-dir=$(B)/cppcheck \
	    --suppress=missingIncludeSystem --inline-suppr $(if $(SRCS)$(CLI),$(SRCS) $(CLI),isa/isa.c); fi

format: ## rewrite all C in the house format
	$(Q)clang-format -i $(C_FOR_LINT)

lint-rtl: $(if $(RTL_SRCS),$(MACHINES:%=lint-rtl-%) $(if $(shell command -v yosys),lint-rtl-read)) ## Verilator lint of the whole design, warnings are errors; yosys can read it
lint-rtl-read: $(call PKGS,tiny) # Verilator takes casts, say, on which yosys stops; and yosys 0.23 takes ~W'(x) for (~W)'(x)
	$(Q)! grep -nE "[-~!|^&+][A-Za-z_0-9:]+'\(" $(RTL_SRCS) || { echo "lint-rtl: yosys takes the operator for a part of the size: W'(~x)" >&2; exit 1; }
	$(Q)yosys -q -p "read_verilog -sv -defer -D SYNTHESIS -Ihw/rtl $(call PKGS,tiny) $(RTL_SRCS)"
lint-rtl-%: $(GEN)/hd_isa_pkg.sv $(GEN)/hd_reg_pkg.sv $(GEN)/%/hd_cfg_pkg.sv $(RTL_SRCS)
	$(Q)verilator --lint-only -Wall --assert +define+HD_CHECKS $(wildcard hw/lint/heddle.vlt) -Ihw/rtl --top-module $(RTL_TOP) \
	    $(call PKGS,$*) $(RTL_SRCS)

REPEATS := 40
check-repeats: ## text of hw/rtl that repeats but for names: at most REPEATS runs of six lines
	$(Q)python3 scripts/repeats.py --limit $(REPEATS)

check-rtl-heads: ## the first comment of every module of hw/rtl says what it guarantees, its latency, throughput and stalls
	$(Q)for f in $(filter-out %_pkg.sv,$(wildcard hw/rtl/*.sv)); do for w in Guarantees Latency Throughput Stalls; do \
	    awk -v w="// $$w:" '/^module/ { exit } index($$0, w) == 1 { n++ } END { exit !n }' $$f || \
	    { echo "$$f: its first comment has no line that begins with '// $$w:'" >&2; exit 1; }; done; done

.PHONY: check-top lint-rtl-read check-repeats check-rtl-heads check check-layers check-size check-clang check-headers check-gen check-man check-docs lint-c format lint-rtl
