# libheddle.so, the whole library with its public C API, and package heddle for Python over it.

PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)# Debian's has the headers, numpy and pytest
PY_INC  := $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2> /dev/null)
PY_SRCS := $(sort $(wildcard runtime/python/*.c))
PY_HAVE := $(wildcard $(PY_INC)/Python.h)
PY_RPATH := -Wl,-rpath,'$$ORIGIN'# libheddle.so lies beside; Debian's package has it in the system's folder
PKG     := $(B)/python/heddle
PY_PKG  := $(patsubst runtime/python/heddle/%,$(PKG)/%,$(wildcard runtime/python/heddle/*))
# Python's slots hold functions as void *, which pedantic C has no conversion for.
$(foreach f,$(PY_SRCS) runtime/python/ext.h,$(eval FLAGS_$(f) := -isystem $(PY_INC) -Wno-pedantic))
ABSENT_HEADERS += $(if $(PY_HAVE),,runtime/python/ext.h)
API_MAP := compiler/api/libheddle.map

# -Bsymbolic: calls inside the library stay inside, whatever else a program has loaded. The commands of the program
# are in it for lib/heddle, the program of Debian's packages, which is main() alone.
$(B)/lib/libheddle.so.$(RT_SO): $(B)/libheddle.a $(filter-out %/main.o,$(CLI:%.c=$(B)/%.o)) $(API_MAP)
	@mkdir -p $(@D); echo "  LD    $@"
	$(Q)$(CC) $(MODE) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(API_MAP) -Wl,-Bsymbolic -Wl,--no-undefined \
	    -Wl,--whole-archive $< -Wl,--no-whole-archive $(filter %.o,$^) $(LDLIBS) -o $@.$$$$ && mv $@.$$$$ $@

$(B)/lib/heddle: $(B)/compiler/cli/main.o $(B)/lib/libheddle.so.$(RT_SO)
	@echo "  LD    $@"
	$(Q)$(CC) $(MODE) $^ -o $@.$$$$ && mv $@.$$$$ $@

$(PKG)/_heddle.abi3.so: $(PY_SRCS:%.c=$(B)/%.o) $(PKG)/libheddle.so.$(RT_SO)
	@echo "  LD    $@"
	$(Q)$(CC) $(MODE) -shared $(PY_RPATH) $^ -o $@.$$$$ && mv $@.$$$$ $@
$(PKG)/libheddle.so.$(RT_SO): $(B)/lib/libheddle.so.$(RT_SO)
	@mkdir -p $(@D)
	$(Q)strip --strip-unneeded -o $@ $<
$(PKG)/%: runtime/python/heddle/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(PKG)/plugins.ok: $(PLUGINS)
	@mkdir -p $(@D)
	$(Q)for f in $^; do strip --strip-unneeded -o $(@D)/$$(basename $$f) $$f; done; touch $@

$(PKG)/rtl: ; @mkdir -p $(@D); ln -sfn ../../../rtl $@

python: $(PKG)/rtl $(if $(PY_HAVE),$(PY_PKG) $(PKG)/_heddle.abi3.so $(PKG)/plugins.ok) ## package heddle in build/<mode>/python (PYTHON=/usr/bin/python3)
	$(Q)$(if $(PY_HAVE),,echo "  no Python.h for $(PYTHON) (Debian package python3-dev): package heddle is not built")

DIST  := $(B)/dist
wheel: python ## a wheel of package heddle in build/<mode>/dist, without network
	$(Q)$(if $(PY_HAVE),rm -f $(DIST)/*.whl && $(PYTHON) scripts/wheel.py $(VERSION) $(PKG) $(DIST) build/rtl)
check-symbols: $(B)/lib/libheddle.so.$(RT_SO) ## libheddle.so exports what its headers declare and compiler/api/libheddle.map lists
	$(Q)python3 scripts/check_symbols.py $< $(API_MAP) compiler/api/heddle.h runtime/heddle_rt.h runtime/base/result.h

# Under -X dev every warning is an error. RTL models are used where they are built.
PYTEST := HEDDLE_RTL_DIR=build/rtl PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(B)/python \
          $(PYTHON) -X dev -W error -m pytest -q -p no:cacheprovider
PY_TEST := $(and $(PY_HAVE),$(filter release debug,$(BUILD)))
test-python: $(if $(PY_TEST),heddle wheel check-symbols) ## package heddle: pytest, and the wheel in a fresh environment
ifneq ($(PY_TEST),)
	$(Q)$(PYTEST) test/python > $(B)/test-python.log 2>&1 || { cat $(B)/test-python.log; exit 1; }
	@echo "  python: $$(tail -1 $(B)/test-python.log)"
	$(Q)sh test/python/wheel.sh $(PYTHON) $(DIST)/*.whl
endif
test: test-python
check: $(if $(filter release debug,$(BUILD)),check-symbols)
.PHONY: python wheel check-symbols test-python
