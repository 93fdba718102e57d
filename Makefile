# One make for the whole tree. Each folder lists its files in rules.mk; nothing recurses.
#   make [target] [BUILD=release|debug|asan|tsan|cov|fuzz] [CC=...] [CFLAGS=...] [V=1]

BUILD ?= release
B     := build/$(BUILD)
V     ?= 0
Q     := $(if $(filter 1,$(V)),,@)

CFLAGS   ?= # yours: make CFLAGS=-fanalyzer
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wvla -Werror
# All objects go into the program and into libheddle.so.
PIC      := -fPIC -fno-semantic-interposition
OURS     := -I. -std=c11 -D_XOPEN_SOURCE=700 -g -ffp-contract=off $(PIC) $(WARN)
LDLIBS   += -Wl,--as-needed -ljson-c -lsqlite3 -lzip -lz -lm -ldl -lpthread
LDFLAGS  += -rdynamic
NATIVE   := $(if $(filter x86_64,$(shell uname -m)),-march=native)
MODE_debug   := -O1
MODE_release := -O2 -ftree-vectorize -DNDEBUG $(NATIVE)
MODE_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODE_tsan    := -O1 -fsanitize=thread
MODE_cov     := -O0 --coverage
MODE_fuzz    := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
MODE         := $(or $(MODE_$(BUILD)),$(error BUILD=$(BUILD): want release, debug, asan, tsan, cov or fuzz))
ifeq ($(BUILD),fuzz)
CC := clang
endif

# The first build takes all cores, unless you say -j.
ifneq ($(filter all heddle demo,$(or $(MAKECMDGOALS),all)),)
  MAKEFLAGS += -j$(shell nproc)
endif

# `make test` and `make demo` work on a bare Debian: packages first, since the rest probes for tools.
ifneq ($(filter test demo deps,$(MAKECMDGOALS)),)
  $(shell scripts/deps.sh 1>&2)
  ifneq ($(.SHELLSTATUS),0)
    $(error packages are missing, see above)
  endif
endif

all: heddle ## build build/heddle (default)

SRCS :=
include $(sort $(wildcard */rules.mk */*/rules.mk))

FOLDERS := isa runtime cpu_ref gpu_ref sim driver compiler test
ALL_C := $(sort $(shell find $(FOLDERS) -name '*.[ch]' 2> /dev/null))
SRCS  := $(sort $(wildcard $(SRCS)))
CLI   := $(sort $(wildcard compiler/cli/*.c))
OBJS  := $(SRCS:%.c=$(B)/%.o)
UNIT  := $(patsubst %.c,$(B)/%,$(sort $(wildcard test/unit/*/test_*.c test/unit/*/*/test_*.c test/device/test_*.c)))
FUZZ  := $(patsubst %.c,$(B)/%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
GOLD  := $(sort $(wildcard test/golden/*/*.t test/golden/*.t))
DEPS  := $(patsubst %.c,$(B)/%.d,$(filter %.c,$(ALL_C)))

# A file that needs other flags in every mode gets them in its rules.mk: FLAGS_sim/hot.c := -O3
# ---- compile and link -------------------------------------------------------------------
$(B)/flags: FORCE # rewritten only when the compiler or its flags change
	@mkdir -p $(@D); echo '$(CC) $(OURS) $(CFLAGS) $(MODE)' | cmp -s - $@ || \
	    echo '$(CC) $(OURS) $(CFLAGS) $(MODE)' > $@

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D); echo "  CC    $<"
	$(Q)$(CC) $(OURS) $(CFLAGS) $(MODE) $(FLAGS_$<) -MMD -MP -c $< -o $@

$(B)/libheddle.a: $(OBJS)
	@echo "  AR    $@"
	$(Q)rm -f $@.$$$$; ar rcs $@.$$$$ $^ && mv $@.$$$$ $@

link = @echo "  LD    $@"; $(if $(filter 0,$(V)),,set -x;) \
       $(CC) $(MODE) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(1) $(LDLIBS) -o $@.$$$$ && mv $@.$$$$ $@

lib: $(B)/libheddle.a ## build build/$(BUILD)/libheddle.a
heddle: lib $(if $(CLI),$(B)/heddle)
$(B)/heddle: $(CLI:%.c=$(B)/%.o) $(B)/libheddle.a
	$(call link)
	$(Q)ln -sfn ../rtl $(B)/rtl; ln -sfn ../rtl-wave $(B)/rtl-wave
	$(Q)[ $(BUILD) != release ] || ln -sf release/heddle build/heddle

tests: $(UNIT) $(FUZZ) ## build, but do not run, C tests and fuzz targets
$(UNIT): %: %.o $(B)/libheddle.a ; $(call link,-lcmocka)
ifeq ($(BUILD),fuzz)
$(FUZZ): %: %.o $(B)/test/fuzz/network.o $(B)/libheddle.a ; $(call link,-fsanitize=fuzzer)
else
$(FUZZ): %: %.o $(B)/test/fuzz/main.o $(B)/test/fuzz/network.o $(B)/libheddle.a ; $(call link)
endif

RT_SO := $(shell sed -n 's/^.define HD_SONAME *"\([0-9]*\)".*/\1/p' runtime/device/hal.h)# of our shared libraries
include mk/web.mk mk/rtl.mk mk/test.mk mk/python.mk mk/check.mk mk/xrt.mk mk/remote.mk mk/xclbin.mk mk/install.mk mk/deb.mk mk/mpi.mk mk/bundle.mk mk/gpu.mk mk/formal.mk mk/synth.mk

# Any other test program: test/random/random_net.c -> build/<mode>/test/random/random_net
$(B)/test/%: $(B)/test/%.o $(B)/libheddle.a ; $(call link)

deps: ## install the Debian packages that are missing
clean: ## remove build/
	rm -rf build
help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(sort $(MAKEFILE_LIST)) | expand -t 18
	@echo "settings: BUILD=release|debug|asan|tsan|cov|fuzz  CC=gcc|clang  CFLAGS=...  V=1"

FORCE:
.PHONY: FORCE all lib heddle tests deps clean help
# Kept though only pattern rules mention them. (Not .SECONDARY: that would leave missing objects missing.)
.PRECIOUS: $(B)/%.o $(BUILD_DIR)/rtl/%/lib.so $(BUILD_DIR)/rtl-wave/%/lib.so $(BUILD_DIR)/rtl-assert/%/lib.so $(BUILD_DIR)/rtl-ungated/%/lib.so $(BUILD_DIR)/rtl-cov/%/lib.so $(GEN)/%/hd_cfg_pkg.sv $(TB_DIR)/tb_% \
           $(B)/test/unit/% $(B)/test/device/% $(B)/test/fuzz/% $(B)/test/random/%
-include $(if $(MODELS_ONLY),,$(wildcard $(DEPS)))
