# Debian packages, for any processor of the architecture: the program, the libraries, their headers. RTL models go
# into them where DEB_RTL names machines; else rtl is built by whoever has the source tree.

DEB     := build/deb
DEB_RTL ?=
DEB_SUB := $(MAKE) --no-print-directory NATIVE= B=build/portable BUILD_DIR=build/portable-rtl PREFIX=/usr LIBDIR=/usr/lib
deb: ## Debian packages heddle, libheddle0, libheddle-dev in build/deb; DEB_RTL="tiny base": with RTL models
	$(Q)rm -rf $(DEB)/stage && mkdir -p $(DEB)
	$(Q)$(DEB_SUB) heddle libs $(DEB_RTL:%=rtl-%)
	$(Q)$(DEB_SUB) install DESTDIR=$(DEB)/stage > $(DEB)/install.log
	$(Q)scripts/deb/build.sh $(DEB)/stage $(DEB) $(RT_VERSION)
test-deb: deb ## the packages hold together: lintian has no error, and what they install runs, from a folder
	$(Q)scripts/deb/test.sh $(DEB)
nightly: test-deb

.PHONY: deb test-deb
