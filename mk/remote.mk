# Devices of other computers, with processes that die. A real sshd only by night.

STORM := $(B)/test/remote/storm
STORM_SEED ?= 1
test-remote: heddle $(STORM) ## requests to remote devices while processes of either end are killed
	$(Q)$(STORM) $(B)/heddle 400 4 8 $(STORM_SEED)
SSHD_HERE = $(shell PATH=$$PATH:/usr/sbin:/sbin command -v sshd)
test-remote-long: heddle $(STORM) ## the same with 1,000 requests and 20 kills, and by a real sshd where there is one (scripts/deps.sh remote)
	$(Q)s=$$(date +%s); for i in 1 2 3; do $(STORM) $(B)/heddle 1000 4 20 $$((s + i)) || exit 1; done
	$(Q)if [ -z "$(SSHD_HERE)" ]; then echo "  SKIP  test-remote-long: no sshd; scripts/deps.sh remote installs it"; \
	    else test/remote/sshd.sh $(B) $(STORM); fi
test: test-remote
nightly: test-remote-long

.PHONY: test-remote test-remote-long
.PRECIOUS: $(STORM)
