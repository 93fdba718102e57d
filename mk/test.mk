# What runs. A test that passed leaves a stamp (x.ok), so only what changed runs again.
# A folder adds to a target in its rules.mk, for example `test-rtl: my-bench`.

TB := $(sort $(wildcard test/rtl/tb_*.cc))
TB_MACHINE ?= tiny

$(B)/%.ok: $(B)/%
	@echo "  TEST  $<"; $< > $(B)/$*.log 2>&1 && touch $@ || { cat $(B)/$*.log; exit 1; }
$(B)/test/unit/area/test_area.ok: hw/synth/budget.txt

test-unit: $(UNIT:%=%.ok) ## run C unit tests (only those whose inputs changed)

test-golden: heddle rtl-tiny ## run golden tests: text in, text out
	$(Q)$(if $(and $(GOLD),$(CLI)),python3 scripts/golden.py $(B) $(GOLD),echo "  no golden tests to run")
	$(Q)python3 scripts/check_programs.py
bless: heddle rtl-tiny ## rewrite golden expectations; review the diff
	$(Q)python3 scripts/stages.py $(B)/heddle --write
	$(Q)python3 scripts/golden.py --bless $(B) $(GOLD)

$(B)/test/fuzz/%.ok: $(B)/test/fuzz/% $(wildcard test/fuzz/corpus/*/*)
	@echo "  TEST  $<"; f=$$(find test/fuzz/corpus/$* -type f 2> /dev/null); \
	    $< $$f > $(B)/test/fuzz/$*.log 2>&1 && touch $@ || { cat $(B)/test/fuzz/$*.log; exit 1; }
test-fuzz: $(FUZZ:%=%.ok) ## replay the fuzz corpora

# Verilator benches: test/rtl/tb_hd_X.cc drives module tb_hd_X where a .sv stands beside it, else hd_X.
# C++ sees -DMACHINE=name; a bench prints its seed and exits 0. RTL_SRCS comes from hw/rules.mk.
TB_DIR := $(B)/test/rtl/$(TB_MACHINE)
$(TB_DIR)/tb_%: test/rtl/tb_%.cc $(sort $(wildcard test/rtl/*.h test/rtl/*.sv)) $(RTL_DEPS) \
                $(call PKGS,$(TB_MACHINE)) $(B)/libheddle.a
	@mkdir -p $@.dir; echo "  VLT   $@"
	$(Q)rm -f $@.dir/tb_*.[od] # their lists of headers may name one that has moved
	$(Q)flock $@.dir verilator --cc --exe --build -O3 --assert +define+HD_CHECKS -Wno-fatal -Wno-lint -Wno-style -Ihw/rtl \
	    --Mdir $@.dir --top-module $(if $(wildcard test/rtl/tb_$*.sv),tb_$*,$*) \
	    -CFLAGS "-I$(CURDIR) -std=c++17 -ffp-contract=off -DMACHINE=$(TB_MACHINE) $(filter -fsanitize%,$(MODE))" \
	    -LDFLAGS "-lm $(filter -fsanitize% --coverage,$(MODE))" -o $(CURDIR)/$@ \
	    $(call PKGS,$(TB_MACHINE)) $(RTL_SRCS) sim/$(RTL_SIM).sv $(wildcard test/rtl/tb_$*.sv) $(CURDIR)/$< \
	    $(CURDIR)/$(B)/libheddle.a > $@.log 2>&1 || { cat $@.log; exit 1; }
test-rtl: $(patsubst test/rtl/%.cc,$(TB_DIR)/%.ok,$(TB)) ## run the RTL benches (TB_MACHINE=tiny|base|big)

test-progress: ## the build of a model says how far it is
	$(Q)test/rtl/progress.sh
test: test-progress
.PHONY: test-progress
test-f32: $(TB_DIR)/tb_hd_f32 ## binary32 cells and requantiser against the host: corners, F32=10000000 random operands
	$(Q)$< $$(( $(or $(F32),10000000) / 8 )) $(SEED)

MODELS := $(wildcard test/models)
RANDOM_NET := $(if $(wildcard test/random/random_net.c),$(B)/test/random/random_net)
RANDOM_RNN := $(B)/test/random/random_rnn
RANDOM_WIDE := $(B)/test/random/random_wide
RANDOM_MOVE := $(B)/test/random/random_move
RANDOM_FLOAT := $(B)/test/random/random_float
$(RANDOM_NET) $(RANDOM_WIDE) $(RANDOM_RNN) $(RANDOM_MOVE) $(RANDOM_FLOAT): $(B)/test/random/random.o
$(RANDOM_NET) $(RANDOM_WIDE) $(RANDOM_RNN) $(RANDOM_MOVE) $(RANDOM_FLOAT) $(B)/test/unit/plan/test_partition: $(B)/test/stages/round_trip.o
$(RANDOM_FLOAT): $(B)/test/random/net.o
$(RANDOM_MOVE): $(patsubst %,$(B)/test/random/%.o,net net_elem net_move net_rows net_window)
$(RANDOM_NET) $(RANDOM_WIDE): $(patsubst %,$(B)/test/random/%.o,net net_window net_rows net_elem net_move)

test-models: heddle rtl-base rtl-tiny $(RANDOM_NET) $(RANDOM_WIDE) $(RANDOM_RNN) $(RANDOM_MOVE) $(RANDOM_FLOAT) ## example models and random networks on every device
	$(Q)set -e; for d in $(if $(MODELS),golden iss rtl); do $(B)/heddle test --device $$d $(MODELS); done
	$(Q)$(if $(RANDOM_NET),for m in tiny base big; do $(RANDOM_NET) --device iss --machine $$m --jitter --count 100 || exit 1; done)
	$(Q)$(if $(RANDOM_NET),$(RANDOM_NET) --machine base --set k=32 --set n=8 --jitter --count 50)
	$(Q)$(if $(RANDOM_NET),$(RANDOM_NET) --machine base --set wm_bytes=16384 --set xm_bytes=16384 --jitter --count 50)
	$(Q)$(if $(RANDOM_NET),HEDDLE_RTL_DIR=build/rtl $(RANDOM_NET) --device rtl --machine tiny --count 20)
	$(Q)set -e; for m in tiny base big; do $(RANDOM_RNN) --machine $$m --jitter --count 60; done
	$(Q)HEDDLE_RTL_DIR=build/rtl $(RANDOM_RNN) --device rtl --machine tiny --small --count 20
	$(Q)set -e; for m in tiny base big; do $(RANDOM_WIDE) --machine $$m --jitter --count 30; done
	$(Q)HEDDLE_RTL_DIR=build/rtl $(RANDOM_WIDE) --device rtl --machine tiny --small --count 8
	$(Q)set -e; for m in tiny base big; do $(RANDOM_MOVE) --machine $$m --jitter --count 60; done
	$(Q)HEDDLE_RTL_DIR=build/rtl $(RANDOM_MOVE) --device rtl --machine tiny --small --count 10
	$(Q)set -e; for m in tiny base big; do $(RANDOM_FLOAT) --machine $$m --jitter --count 25; done
	$(Q)HEDDLE_RTL_DIR=build/rtl $(RANDOM_FLOAT) --device rtl --machine tiny --small --count 10
# ONNX's own cases, where Debian's libonnx-testdata has put them; all but those that stand in the list.
ONNX_DATA       ?= /usr/share/libonnx-testdata/data
CONFORM_DEVICES ?= golden cpu
test-conform: heddle ## ONNX's operator tests on golden and cpu
ifeq ($(wildcard $(ONNX_DATA)),)
	@echo "  no $(ONNX_DATA) (Debian package libonnx-testdata): ONNX's cases are skipped"
else
	$(Q)for d in $(CONFORM_DEVICES); do $(B)/heddle test --device $$d --list test/conform/left_out.txt \
	    $(foreach f,node simple pytorch-operator pytorch-converted,$(ONNX_DATA)/$(f)) \
	    > $(B)/test-conform.$$d.log 2>&1 || { grep -v '^ok\|^skip' $(B)/test-conform.$$d.log; exit 1; }; \
	    echo "  conform $$d: $$(tail -1 $(B)/test-conform.$$d.log)"; done
endif

# A later suite: a folder like onnx/backend/test/data/node. What is left out is printed, by reasons.
ifneq ($(ONNX_NODE_TESTS),)
test-conform: conform-later
conform-later: heddle
	$(Q)test -d "$(ONNX_NODE_TESTS)" || { echo "conform: no folder $(ONNX_NODE_TESTS); ONNX_NODE_TESTS=DIR names one that holds test_*/model.onnx"; exit 1; }
	$(Q)for d in $(CONFORM_DEVICES); do $(B)/heddle test --device $$d --list test/conform/left_out_later.txt $(ONNX_NODE_TESTS) \
	    > $(B)/test-conform.later.$$d.log 2>&1 || { grep -v '^ok\|^skip' $(B)/test-conform.later.$$d.log; exit 1; }; \
	    echo "  conform $$d, $(ONNX_NODE_TESTS): $$(tail -1 $(B)/test-conform.later.$$d.log)"; done
	@sed -n 's/^skip [^ ]*: /    left out: /p' $(B)/test-conform.later.$(lastword $(CONFORM_DEVICES)).log | sort | uniq -c
endif
.PHONY: conform-later

# Real networks, where they lie beside the repository.
SHARED     ?= ../shared/models
SHARED_RUN := mlperf_ic_resnet8_int8_qdq mlperf_ic_resnet8_int8_qlinear mlperf_ad_autoencoder_int8_qdq
test-shared: heddle rtl-base ## networks of ../shared/models on rtl, where that folder is
ifeq ($(wildcard $(SHARED)),)
	@echo "  no $(SHARED): its networks are skipped"
else
	$(Q)$(B)/heddle test --device golden $(SHARED) > $(B)/test-shared.log 2>&1 || { grep -v '^ok' $(B)/test-shared.log; exit 1; }
	@echo "  shared golden: $$(tail -1 $(B)/test-shared.log)"
	$(Q)$(B)/heddle test --device rtl $(SHARED_RUN:%=$(SHARED)/%)
	$(Q)for m in $(SHARED_RUN); do $(B)/heddle compare $(SHARED)/$$m --devices golden,iss,rtl --mem-jitter 1..5 \
	    > $(B)/test-shared.log 2>&1 && tail -1 $(B)/test-shared.log || { cat $(B)/test-shared.log; exit 1; }; done
endif

# Random programs straight from the ISA tables, iss against rtl.
COSIM := $(B)/test/cosim/cosim
N     ?= 1000
SEED  ?= 1
COVERAGE ?= --coverage
REMOVED := $(B)/test/cosim/removed
$(COSIM) $(REMOVED): $(patsubst %,$(B)/test/cosim/%.o,program random_op words)
$(COSIM): $(B)/test/cosim/cover.o $(B)/test/cosim/timing.o
test-cosim: $(COSIM) $(REMOVED) rtl-tiny rtl-nano ## 200 random programs on iss and rtl, half of them bad; the check on programs that lack a semaphore
	$(Q)$(REMOVED) --count 30
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --count 100
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --machine nano --count 60
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --timing --count 10
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --bad --count 100
cosim: $(COSIM) rtl-$(TB_MACHINE) ## more of them, and what they covered: N=1000 SEED=1 TB_MACHINE=tiny|base|big|nano|lean
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --machine $(TB_MACHINE) --seed $(SEED) --count $(N) $(COVERAGE)
	$(Q)HEDDLE_RTL_DIR=build/rtl $(COSIM) --machine $(TB_MACHINE) --seed $(SEED) --count $(N) --bad
GATES = HEDDLE_RTL_DIR=build/$(1) $(COSIM) --seed $(SEED) --count $(or $(GATES_N),300)
test-gates: $(COSIM) rtl-tiny build/rtl-ungated/libhd_rtl_tiny.so ## random programs: every cycle the same with units clocked always (hd_gate)
	$(Q)$(call GATES,rtl) > $(B)/gates.log && $(call GATES,rtl-ungated) | cmp - $(B)/gates.log && cat $(B)/gates.log
test-read: $(COSIM) build/rtl-yosys/libhd_rtl_tiny.so ## random programs on the RTL as yosys reads it, which is what `make synth` counts
	$(Q)$(call GATES,rtl-yosys)
nightly: test-read
.PHONY: test-gates test-read
test-sweep: heddle gen ## a few parameter sets; illegal ones refused by name
	$(Q)python3 scripts/sweep.py $(B) --fast
sweep: heddle gen $(COSIM) ## every parameter set: lint, refusals, networks on iss, a sample on rtl
	$(Q)python3 scripts/sweep.py $(B)
# Small ones in `make test`, on each machine; the others with `make roundtrip`.
STAGES := $(B)/test/stages/stages
$(STAGES): $(B)/test/stages/round_trip.o
STAGE_NETS = $(wildcard test/models/* $(SHARED)/tflm_* $(SHARED)/mlperf_*_int8_qdq)
roundtrip: $(STAGES) ## text of every stage of each network of ../shared/models, read back, gives the same program
	$(Q)set -e; for m in tiny base big; do $(STAGES) $$m $(patsubst %/model.onnx,%,$(wildcard $(SHARED)/*/model.onnx $(SHARED)/light/*/model.onnx)); done
test-stages: $(STAGES) ## the same of small networks
	$(Q)for m in tiny base; do $(STAGES) $$m $(STAGE_NETS) || exit 1; done > $(B)/stages.log 2>&1 || { cat $(B)/stages.log; exit 1; }
	@echo "  stages: $$(grep -c ^ok $(B)/stages.log) networks, texts give the same programs"

# Searches for machines against exhaustive ones, after kills.
SCHEDULE := $(B)/test/explore/schedule
test-explore: heddle $(SCHEDULE) ## heddle explore on a small space: the front of an exhaustive search, also after a kill
	$(Q)python3 test/explore/explore_test.py $(B)/heddle $(B)/test/explore/work
	$(Q)$(SCHEDULE) $(B)/test/explore/work/all/journal.jsonl 1000 1,3,64 $(or $(wildcard ../shared/models/mlperf_ad_autoencoder_int8_qdq),test/models/digits)
test-explore-long: heddle ## the same on 1,024 machines and two networks
	$(Q)python3 test/explore/explore_test.py $(B)/heddle $(B)/test/explore/work --long
test-explore-board: heddle ## a machine that explore writes for kv260: on the RTL, packaged, behind XRT's emulation
	$(Q)test/explore/board.sh $(B) $(B)/test/explore/board
nightly: test-explore-long test-explore-board
.PHONY: test-explore test-explore-long test-explore-board

# Other programs and networks every night: the seed is the time, and a failure prints it.
nightly: test-gates sweep ## 10,000 random programs on tiny, base and big, 10,000 random networks (N=20 for a look)
	$(Q)n=$(if $(filter command line environment,$(origin N)),$(N),10000); s=$$(date +%s); set -e; \
	    for m in $(MACHINES); do $(MAKE) --no-print-directory cosim N=$$n TB_MACHINE=$$m SEED=$$s COVERAGE=; done; \
	    $(MAKE) --no-print-directory random SEED=$$s COUNT=$$n; $(MAKE) --no-print-directory zoo SEED=$$s RTL=200e6
COUNT ?= 1000
random: heddle rtl-tiny $(RANDOM_NET) ## random networks on tiny, base and big, one in twenty on rtl: COUNT=1000 SEED=1
	$(Q)for m in tiny base big; do $(RANDOM_NET) --device iss --machine $$m --jitter --seed $(SEED) --count $$(( $(COUNT) / 3 )) || exit 1; done
	$(Q)HEDDLE_RTL_DIR=build/rtl $(RANDOM_NET) --device rtl --machine tiny --seed $(SEED) --count $$(( $(COUNT) / 20 ))

# RTL=200e6: those below so many multiply-accumulates on rtl, too.
OTHER ?= ../shared/models_other
OTHER_TFLITE = $(B)/heddle test --list test/conform/other_left_out.txt $(OTHER)/tflite
test-other: heddle ## TFLite, Caffe and StableHLO cases of ../shared/models_other on golden and cpu, where that folder is
	$(Q)if [ ! -d $(OTHER) ]; then echo "  other: skipped, there is no folder $(OTHER)"; else \
	for d in golden cpu; do $(B)/heddle test --device $$d --list test/conform/other_left_out.txt $(OTHER) > $(B)/test-other.log 2>&1 \
	    || { grep -vE '^(ok|skip)' $(B)/test-other.log; exit 1; }; echo "  other $$d: $$(tail -1 $(B)/test-other.log)"; done; \
	for d in golden cpu; do $(OTHER_TFLITE) --rounding tflite --device $$d > $(B)/test-other.log 2>&1 \
	    || { grep -vE '^(ok|skip)' $(B)/test-other.log; exit 1; }; echo "  TFLite's rounding, $$d: $$(tail -1 $(B)/test-other.log)"; done; fi
test-other-iss: heddle ## TFLite networks on iss: each integer tensor equal to golden's
	$(Q)if [ ! -d $(OTHER) ]; then echo "  other: skipped, there is no folder $(OTHER)"; else $(OTHER_TFLITE) --device iss > $(B)/test-other.log 2>&1 \
	    || { grep -vE '^(ok|skip)' $(B)/test-other.log; exit 1; }; echo "  other iss: $$(tail -1 $(B)/test-other.log)"; fi
nightly: test-other-iss

networks: heddle ## every network of ../shared/models on the machine, quantised where it must be; NETWORKS="NAME..", RTL=200e6: on rtl, too
	$(Q)$(if $(RTL),$(MAKE) rtl-base)
	$(Q)python3 scripts/networks.py $(B) $(SHARED) $(if $(RTL),--rtl $(RTL)) $(NETWORKS)

# Networks that nobody has tuned anything for: sizes and weights come from SEED.
zoo: heddle ## small networks of many architectures, quantised, golden = iss: SEED=1; RTL=200e6: on rtl, too
	$(Q)rm -rf $(B)/zoo && mkdir -p $(B)/zoo
	$(Q)python3 test/zoo/zoo.py $(B)/zoo $(SEED)
	$(Q)$(if $(RTL),$(MAKE) rtl-base)
	$(Q)python3 scripts/networks.py $(B) $(B)/zoo $(if $(RTL),--rtl $(RTL))
bench-zoo: heddle ## every network of ../shared/models and of the zoo beside its roofline: MACHINE=base,big
	$(Q)rm -rf $(B)/zoo && mkdir -p $(B)/zoo
	$(Q)python3 test/zoo/zoo.py $(B)/zoo $(SEED)
	$(Q)$(B)/heddle bench zoo $(wildcard $(SHARED)) $(B)/zoo $(if $(MACHINE),--machine $(MACHINE))
test-zoo: heddle
	$(Q)$(MAKE) --no-print-directory zoo > $(B)/zoo.log 2>&1 || { cat $(B)/zoo.log; exit 1; }
	$(Q)! grep '| 0.0 M |' $(B)/zoo.log || { echo "  zoo: nothing of these runs on the machine" >&2; exit 1; }
	@echo "  zoo: $$(grep -c 'golden,iss' $(B)/zoo.log) networks, golden = iss"

peer: heddle ## random models of one operation on golden and ONNX Runtime: N=1000 SEED=1 ORT=..
	$(Q)test/peer/run.sh $(B)/heddle $(N) $(SEED) $(B)/peer

test-mutants mutants: mutants-seeded mutants-yosys ## seeded faults, and those that yosys makes, must be caught (minutes)
mutants-seeded: heddle ## faults of test/mutants in RTL, ISS, compiler, golden, runtime
	$(Q)python3 scripts/mutants.py
mutants-yosys: lib $(call PKGS,tiny) ## faults of `yosys mutate` in datapath units: MUTANTS=200 of each, MUTATE=mac2 for one unit
	$(Q)$(need_yosys)
	$(Q)python3 test/mutate/mutate.py build/mutate $(GEN) $(B)/libheddle.a $(or $(MUTANTS),200) $(MUTATE)
mutants-random: heddle ## random faults in all of hw/rtl, at least 90 % caught by `make test`: MUTANTS=300 SEED=1
	$(Q)python3 scripts/mutants.py --random $(or $(MUTANTS),300) --seed $(SEED)
nightly: mutants-random-nightly
mutants-random-nightly: heddle
	$(Q)python3 scripts/mutants.py --random $(or $(MUTANTS),300) --seed $$(date +%s)
.PHONY: mutants-random mutants-random-nightly
test-mutants-fast: heddle ## one seeded fault each of RTL, ISS and compiler
	$(Q)python3 scripts/mutants.py --fast
# Networks whose estimate must be close to what they take (compiler/bench/estimate.c has the bars).
ESTIMATED := mlperf_kws_dscnn_int8_qdq mlperf_ic_resnet8_int8_qdq mlperf_ad_autoencoder_int8_qdq tflm_mnist_lstm_fp32
test-estimate: heddle ## the estimate of networks and of their large layers against the ISS, three machines, latency 64 and 200
	$(Q)$(if $(wildcard $(SHARED)),scripts/estimate.sh $(B)/heddle $(B)/cycles $(ESTIMATED:%=$(SHARED)/%),echo "  no $(SHARED): no estimate is compared")
test-schemas: heddle rtl-base ## every JSON output fits its schema in docs/schemas
	$(Q)rm -rf $(B)/schemas && python3 scripts/check_schemas.py $(B)/heddle $(B)/schemas
test: test-schemas
test-report: ## the page of --report in headless Chromium, where it is installed
demo: heddle rtl-base ## compile and run an example network on the simulated chip
	$(Q)HEDDLE=$(B)/heddle scripts/demo.sh
bench: heddle rtl-base ## measure cycles and speed
	$(Q)$(B)/heddle bench

test: check test-unit test-golden test-fuzz test-rtl test-conform test-models test-stages test-zoo test-shared test-other test-cosim test-report test-estimate test-sweep test-explore test-mutants-fast ## everything that must pass before a commit

# BUILD=asan sees what a fault leaves behind, and what it reads beyond its end.
test-faults: heddle ## full disk, full standard output, no memory, inputs cut short, kill -9 of a command or its child: FAULTS=24 SEED=1
	$(Q)python3 test/fault/faults.py $(B)/heddle $(B)/faults $(or $(FAULTS),24) $(SEED)
test: test-faults
nightly: faults-nightly
faults-nightly: heddle
	$(Q)python3 test/fault/faults.py $(B)/heddle $(B)/faults 2000 $$(date +%s)
	$(Q)$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=600
.PHONY: test-faults faults-nightly

# ---- longer runs ---------------------------------------------------------------------------
FUZZ_SECONDS ?= 30
fuzz: ## run every fuzz target with libFuzzer, FUZZ_SECONDS=30 each
ifeq ($(BUILD),fuzz)
fuzz: $(FUZZ)
	$(Q)set -e; for f in $(FUZZ); do n=$$(basename $$f); mkdir -p $(B)/corpus/$$n; echo "  FUZZ  $$n"; \
	    $$f -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -artifact_prefix=$(B)/ $(B)/corpus/$$n \
	    $$(ls -d test/fuzz/corpus/$$n 2> /dev/null) > $(B)/$$n.log 2>&1 || { tail -40 $(B)/$$n.log; exit 1; }; done
else
fuzz:
	$(Q)$(MAKE) --no-print-directory BUILD=fuzz fuzz
endif

C_FLOOR := 87 # percent of the lines of C that these tests reach, all files together
cov: ## coverage: lines of C, then lines and toggles of the RTL by module
ifeq ($(BUILD),cov)
cov: test-unit test-golden test-fuzz test-conform $(RANDOM_NET) $(RANDOM_RNN) $(RANDOM_MOVE)
	$(Q)$(RANDOM_NET) --machine tiny --count 15 && $(RANDOM_RNN) --machine tiny --small --count 30 && $(RANDOM_MOVE) --machine tiny --count 30
	$(Q)for f in $(OBJS); do gcov -n -o $$f $$f 2> /dev/null; done | \
	    awk -v floor=$(C_FLOOR) -f scripts/cov.awk > $(B)/cov.txt; e=$$?; sort -n $(B)/cov.txt; exit $$e
else
	$(Q)if [ -d build/cov ]; then find build/cov '(' -name '*.gcda' -o -name '*.ok' ')' -delete; fi
	$(Q)$(MAKE) --no-print-directory BUILD=cov CONFORM_DEVICES=golden cov
	$(Q)$(MAKE) --no-print-directory cov-rtl
endif

# Random programs, those written by hand, the tests of registers and the digits network on tiny; COV_N=1000 for more.
COV_VX := $(B)/test/cosim/random_vx
cov-rtl: $(COSIM) $(COV_VX) $(CHIP) heddle build/rtl-cov/libhd_rtl_tiny.so ## lines and toggles of the RTL, by module
	$(Q)rm -rf build/rtl-cov/data && mkdir -p build/rtl-cov/data
	$(Q)export HEDDLE_RTL_DIR=build/rtl-cov HEDDLE_RTL_COVERAGE=build/rtl-cov/data; \
	    $(COSIM) --count $(or $(COV_N),15) && $(COV_VX) --machine tiny --count 20 && $(CHIP) && \
	    python3 scripts/golden.py $(B) $(wildcard test/golden/iss/*.t) && \
	    $(B)/heddle run test/models/digits --device rtl --machine tiny > /dev/null
	$(Q)python3 scripts/rtl_cov.py build/rtl-cov/data $(wildcard test/cov/rtl.txt)

.PHONY: roundtrip test-stages zoo test-zoo test test-conform test-unit test-golden bless test-fuzz test-rtl test-models test-mutants mutants mutants-seeded mutants-yosys test-mutants-fast \
        test-shared test-other test-other-iss test-schemas test-cosim test-report test-estimate test-sweep sweep test-f32 cosim nightly demo bench fuzz cov cov-rtl
