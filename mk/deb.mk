# Debian packages, for any processor of the architecture: the program, the libraries, their headers. RTL models go
# into them where DEB_RTL names machines; else rtl is built by whoever has the source tree.

DEB     := build/deb
DEB_RTL ?=
DEB_SUB := $(MAKE) --no-print-directory NATIVE= B=build/portable BUILD_DIR=build/portable-rtl PREFIX=/usr LIBDIR=/usr/lib PY_RPATH=
DEB_PY  := $(DEB)/stage/usr/lib/python3/dist-packages/heddle
deb: ## Debian packages heddle, libheddle1, libheddle-dev, python3-heddle in build/deb; DEB_RTL="tiny base": with RTL models
	$(Q)rm -rf $(DEB)/stage && mkdir -p $(DEB)
	+$(Q)$(DEB_SUB) heddle libs python $(DEB_RTL:%=rtl-%)
	+$(Q)$(DEB_SUB) install DESTDIR=$(DEB)/stage > $(DEB)/install.log
	$(Q)install -d $(DEB_PY) && cp build/portable/python/heddle/*.py build/portable/python/heddle/*.pyi \
	    build/portable/python/heddle/py.typed build/portable/python/heddle/_heddle.abi3.so $(DEB_PY)
	$(Q)scripts/deb/build.sh $(DEB)/stage $(DEB) $(RT_VERSION)
test-deb: deb ## the packages hold together: lintian has no error, and what they install runs, from a folder
	$(Q)scripts/deb/test.sh $(DEB)
test-install: ## the packages in a fresh Debian chroot, as root: Python, iss, rtl of tiny, purge
	+$(Q)$(MAKE) --no-print-directory deb DEB_RTL=tiny
	$(Q)scripts/deb/chroot.sh $(DEB)
nightly: test-deb test-install

.PHONY: deb test-deb test-install
