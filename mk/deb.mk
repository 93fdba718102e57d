# Debian packages: the program, the libraries, their headers, RTL models of DEB_RTL. They run on any processor of the
# architecture. The libraries lie there again for later ones, in folders of which the loader takes the best
# (glibc-hwcaps), and the program is main() over libheddle.

DEB     := build/deb
DEB_RTL ?= tiny base
DEB_LEVELS := $(if $(filter x86_64,$(shell uname -m)),x86-64-v3 x86-64-v4)
# $(1): any, or the level that gcc and the loader know by this name
DEB_SUB = $(MAKE) --no-print-directory NATIVE=$(if $(filter any,$(1)),,-march=$(1)) B=build/deb-$(1) \
    BUILD_DIR=build/deb-rtl PREFIX=/usr LIBDIR=/usr/lib PY_RPATH= PROGRAM=build/deb-$(1)/lib/heddle
DEB_PY  := $(DEB)/stage/usr/lib/python3/dist-packages/heddle
deb: ## Debian packages heddle, libheddle1, libheddle-dev, python3-heddle in build/deb; DEB_RTL="tiny base": RTL models in them
	$(Q)rm -rf $(DEB)/stage && mkdir -p $(DEB)
	+$(Q)$(call DEB_SUB,any) heddle libs python $(DEB_RTL:%=rtl-%)
	+$(Q)$(call DEB_SUB,any) install DESTDIR=$(DEB)/stage > $(DEB)/install.log
	+$(Q)set -e; for l in $(DEB_LEVELS); do $(call DEB_SUB,$$l) libs; done
	$(Q)for l in $(DEB_LEVELS); do install -D -m 644 -t $(DEB)/stage/usr/lib/glibc-hwcaps/$$l build/deb-$$l/lib/libheddle*.so.$(RT_SO); done
	$(Q)install -d $(DEB_PY) && cp build/deb-any/python/heddle/*.py build/deb-any/python/heddle/*.pyi \
	    build/deb-any/python/heddle/py.typed build/deb-any/python/heddle/_heddle.abi3.so $(DEB_PY)
	$(Q)scripts/deb/build.sh $(DEB)/stage $(DEB) $(VERSION)
test-deb: deb ## the packages hold together: lintian has no error, and what they install runs, from a folder
	$(Q)scripts/deb/test.sh $(DEB)
bench-deb: deb heddle ## the packages beside this build: compiling, iss, cpu (minutes; wants a computer that does nothing else)
	$(Q)python3 scripts/deb/speed.py $(B)/heddle $(DEB) $(SHARED)
test-install: deb ## the packages in a fresh Debian chroot, as root: Python, iss, rtl, purge
	$(Q)scripts/deb/chroot.sh $(DEB)
nightly: test-deb test-install

.PHONY: deb bench-deb test-deb test-install
