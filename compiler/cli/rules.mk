# `make demo`: the digits network on the RTL, all held-out images.
demo: demo-digits
demo-digits: heddle rtl-base
	$(Q)$(B)/heddle demo test/models/digits
.PHONY: demo-digits
