# The runtime library and `make install`. libheddle_rt is what loads and runs a .hdl file; libheddle_host the
# operations that the compiler left to the host, libheddle_sim the simulators, both opened when a device of theirs
# is asked for. Their objects are position independent and hide what is not marked HD_API.

DESTDIR ?=
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
PROGRAM ?= $(B)/heddle

# ---- version ----------------------------------------------------------------------------
VERSION := $(shell scripts/version.sh)
$(BUILD_DIR)/version: FORCE # rewritten only when it changes
	@mkdir -p $(@D); echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@
FLAGS_runtime/base/version.c := -DHD_VERSION='"$(VERSION)"'
$(B)/runtime/base/version.o $(B)/pic/runtime/base/version.o: $(BUILD_DIR)/version

BASE_SRCS := $(wildcard runtime/base/*.c) isa/isa.c isa/machine.c isa/disasm.c isa/room.c
RT_SRCS   := $(BASE_SRCS) runtime/device/model.c runtime/device/model_save.c runtime/device/value.c runtime/device/states.c runtime/devices.c runtime/session.c runtime/whole_graph.c runtime/state.c runtime/queue.c \
             runtime/heddle_rt.c sim/mach_dev.c sim/mach_report.c driver/emu_host.c driver/emu_left.c driver/emu_wire.c driver/xclbin.c \
             $(wildcard driver/xrt*.c) $(addprefix driver/remote/,client.c client_run.c fleet.c frame.c link.c list.c messages.c)
HOST_SRCS := $(BASE_SRCS) runtime/plugin_host.c runtime/device/value.c $(wildcard compiler/ir/*.c compiler/expr/*.c) \
             $(filter-out cpu_ref/cpu% cpu_ref/dnnl% cpu_ref/jit%,$(wildcard cpu_ref/*.c))
SIM_SRCS  := $(BASE_SRCS) runtime/plugin_sim.c $(wildcard sim/*.c)
PIC_FLAGS := -fno-asynchronous-unwind-tables -fno-unwind-tables -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -DHD_RT_BUILD
SMALL     := $(if $(filter release,$(BUILD)),-Os) # where no time is spent
SO_FLAGS  := -shared -Wl,--gc-sections -Wl,--no-undefined -Wl,--as-needed -Wl,-Bsymbolic

$(B)/pic/%.o: %.c $(B)/flags mk/install.mk
	@mkdir -p $(@D); echo "  CC    $< (pic)"
	$(Q)$(CC) $(OURS) $(CFLAGS) $(MODE) $(FLAGS_$<) $(PIC_FLAGS) $(if $(filter sim/iss% cpu_ref/%,$<),,$(SMALL)) -MMD -MP -c $< -o $@
-include $(if $(MODELS_ONLY),,$(wildcard $(sort $(RT_SRCS:%.c=$(B)/pic/%.d) $(HOST_SRCS:%.c=$(B)/pic/%.d) $(SIM_SRCS:%.c=$(B)/pic/%.d))))

so = @echo "  LD    $@"; $(CC) $(MODE) $(SO_FLAGS) -Wl,-soname,$(@F) $(filter %.o,$^) $(1) -o $@.$$$$ && mv $@.$$$$ $@
RT_LIBS := -lz -lm -ldl -lpthread
$(B)/lib/libheddle_rt.so.$(RT_SO): $(RT_SRCS:%.c=$(B)/pic/%.o) ; @mkdir -p $(@D)
	$(call so,$(RT_LIBS))
$(B)/lib/libheddle_sim.so.$(RT_SO): $(SIM_SRCS:%.c=$(B)/pic/%.o) ; @mkdir -p $(@D)
	$(call so,-lm -ldl -lpthread)
$(B)/lib/libheddle_host.so.$(RT_SO): $(HOST_SRCS:%.c=$(B)/pic/%.o) ; @mkdir -p $(@D)
	$(call so,-lm -ldl -lpthread)
$(B)/lib/libheddle_rt.a: $(RT_SRCS:%.c=$(B)/pic/%.o)
	@mkdir -p $(@D); echo "  AR    $@"
	$(Q)rm -f $@.$$$$; ar rcs $@.$$$$ $^ && mv $@.$$$$ $@
# One header: the file that it includes is put in its place.
$(B)/lib/heddle_rt.h: runtime/heddle_rt.h runtime/base/result.h $(BUILD_DIR)/version
	@mkdir -p $(@D)
	$(Q)sed -e '/hd_rt_version(void)/i #define HD_RT_VERSION "$(VERSION)"' -e '/#include "runtime\/base\/result.h"/{r runtime/base/result.h' -e 'd' -e '}' $< > $@
$(B)/lib/heddle.h: compiler/api/heddle.h
	@mkdir -p $(@D)
	$(Q)sed 's|#include "runtime/heddle_rt.h"|#include <heddle_rt.h>|' $< > $@
$(B)/lib/heddle_rt.pc: mk/install.mk $(BUILD_DIR)/version
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR:$(PREFIX)%=$${prefix}%)' 'includedir=$${prefix}/include' '' \
	    'Name: heddle_rt' 'Description: loads and runs models compiled by heddle' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lheddle_rt' 'Libs.private: $(RT_LIBS)' > $@
$(B)/lib/heddle.pc: mk/install.mk $(BUILD_DIR)/version
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR:$(PREFIX)%=$${prefix}%)' 'includedir=$${prefix}/include' '' \
	    'Name: heddle' 'Description: compiles networks for an open int8 machine, and runs them' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lheddle' > $@

RT_FILES := $(addprefix $(B)/lib/,libheddle_rt.so.$(RT_SO) libheddle_host.so.$(RT_SO) \
            libheddle_sim.so.$(RT_SO) libheddle_rt.a heddle_rt.h heddle_rt.pc)
# For find_package(heddle): target heddle::heddle, found from where the file lies.
UP_TO_PREFIX = $(subst $() ,/,$(patsubst %,..,$(subst /, ,$(LIBDIR:$(PREFIX)/%=%))))
$(B)/lib/heddle-config.cmake: mk/install.mk $(BUILD_DIR)/version
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'get_filename_component(_lib "$${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)' \
	    'get_filename_component(_top "$${_lib}/$(UP_TO_PREFIX)" ABSOLUTE)' 'set(heddle_VERSION $(VERSION))' \
	    'if(NOT TARGET heddle::heddle)' '  add_library(heddle::heddle SHARED IMPORTED)' \
	    '  set_target_properties(heddle::heddle PROPERTIES IMPORTED_LOCATION "$${_lib}/libheddle.so.$(RT_SO)"' \
	    '    IMPORTED_SONAME libheddle.so.$(RT_SO) INTERFACE_INCLUDE_DIRECTORIES "$${_top}/include")' 'endif()' > $@
API_FILES := $(addprefix $(B)/lib/,libheddle.so.$(RT_SO) heddle.h heddle.pc heddle-config.cmake)
libs: $(RT_FILES) $(API_FILES) ## libheddle, libheddle_rt (shared and static), libheddle_host, libheddle_sim

rt-libs: $(RT_FILES)
D = $(DESTDIR)$(1)
install: heddle libs $(PROGRAM) ## program, libraries, header, pkg-config file, manual pages, completion: DESTDIR= PREFIX=/usr/local
	$(Q)install -d $(call D,$(PREFIX)/bin) $(call D,$(LIBDIR)/pkgconfig) $(call D,$(LIBDIR)/heddle/rtl) \
	    $(call D,$(PREFIX)/include) $(call D,$(PREFIX)/share/man/man1) $(call D,$(PREFIX)/share/man/man3) \
	    $(call D,$(PREFIX)/share/bash-completion/completions) $(call D,$(PREFIX)/share/zsh/site-functions)
	$(Q)install $(PROGRAM) $(call D,$(PREFIX)/bin/heddle)
	$(Q)for l in libheddle libheddle_rt libheddle_host libheddle_sim; do install -m 644 $(B)/lib/$$l.so.$(RT_SO) $(call D,$(LIBDIR)); done
	$(Q)strip --strip-unneeded $(call D,$(LIBDIR))/libheddle*.so.$(RT_SO)
	$(Q)for l in libheddle libheddle_rt; do ln -sf $$l.so.$(RT_SO) $(call D,$(LIBDIR))/$$l.so; done
	$(Q)install -m 644 $(B)/lib/libheddle_rt.a $(call D,$(LIBDIR))
	$(Q)install -m 644 $(B)/lib/heddle_rt.h $(B)/lib/heddle.h $(call D,$(PREFIX)/include)
	$(Q)install -m 644 $(B)/lib/heddle_rt.pc $(B)/lib/heddle.pc $(call D,$(LIBDIR)/pkgconfig)
	$(Q)install -D -m 644 $(B)/lib/heddle-config.cmake $(call D,$(LIBDIR)/cmake/heddle)/heddle-config.cmake
	$(Q)for f in $(PLUGINS); do install -m 644 $$f $(call D,$(LIBDIR)/heddle); done
	$(Q)install -m 644 docs/man/heddle.1 $(call D,$(PREFIX)/share/man/man1)
	$(Q)$(B)/heddle help --completion bash > $(call D,$(PREFIX)/share/bash-completion/completions/heddle)
	$(Q)$(B)/heddle help --completion zsh > $(call D,$(PREFIX)/share/zsh/site-functions/_heddle)
	$(Q)install -m 644 docs/man/heddle_rt.3 $(call D,$(PREFIX)/share/man/man3)
	$(Q)for f in $(wildcard $(BUILD_DIR)/rtl/libhd_rtl_*.so); do install -m 644 $$(readlink -f $$f) \
	    $(call D,$(LIBDIR)/heddle/rtl)/$$(basename $$f); done
	@echo "installed in $(call D,$(PREFIX)); RTL models: $(or $(patsubst $(BUILD_DIR)/rtl/libhd_rtl_%.so,%,$(wildcard $(BUILD_DIR)/rtl/libhd_rtl_*.so)),none (make rtl builds them))"
uninstall: ## remove what install put there
	$(Q)rm -rf $(call D,$(LIBDIR)/heddle) $(call D,$(LIBDIR)/cmake/heddle)
	$(Q)rm -f $(call D,$(PREFIX)/bin/heddle) $(call D,$(LIBDIR))/libheddle_rt.* $(call D,$(LIBDIR))/libheddle_host.* \
	    $(call D,$(LIBDIR))/libheddle_sim.* \
	    $(call D,$(LIBDIR))/libheddle.so* $(call D,$(LIBDIR)/pkgconfig/heddle.pc) $(call D,$(PREFIX)/include/heddle.h) \
	    $(call D,$(PREFIX)/include/heddle_rt.h) $(call D,$(LIBDIR)/pkgconfig/heddle_rt.pc) \
	    $(call D,$(PREFIX)/share/man/man1/heddle.1) $(call D,$(PREFIX)/share/man/man3/heddle_rt.3) \
	    $(call D,$(PREFIX)/share/bash-completion/completions/heddle) $(call D,$(PREFIX)/share/zsh/site-functions/_heddle)

.PHONY: libs rt-libs install uninstall

# From outside, with an installation in build/. The sanitised libraries are built by a second make.
RT_DEST := $(B)/dest
test-rt: ## libheddle_rt as its users have it: installed files, docs/example.c, allocations, threads
	$(Q)if [ -n "$(filter release debug,$(BUILD))" ]; then \
	    $(MAKE) --no-print-directory install DESTDIR=$(RT_DEST) PREFIX=/usr > $(B)/install.log && \
	    $(MAKE) --no-print-directory BUILD=tsan rt-libs > $(B)/install.log && test/rt/run.sh $(B) $(RT_DEST) build/tsan/lib; \
	    else echo "  SKIP  test-rt: with BUILD=release, debug only"; fi
test-readonly: heddle rtl-tiny ## a source tree that cannot be written: RTL models in the user's cache
	$(Q)test/rt/readonly.sh $(B)
dist: ## a source package of HEAD with its version: build/dist/heddle-VERSION.tar.gz
	$(Q)mkdir -p $(BUILD_DIR)/dist && echo '$(VERSION)' > $(BUILD_DIR)/dist/VERSION
	$(Q)git archive --prefix=heddle-$(VERSION)/ --add-file=$(BUILD_DIR)/dist/VERSION \
	    -o $(BUILD_DIR)/dist/heddle-$(VERSION).tar.gz HEAD && echo "  DIST  $(BUILD_DIR)/dist/heddle-$(VERSION).tar.gz"
test-version: ## versions by tag and by file VERSION
	$(Q)test/rt/version.sh
test: test-rt test-readonly test-version
.PHONY: dist test-version
.PHONY: test-readonly
.PHONY: test-rt
