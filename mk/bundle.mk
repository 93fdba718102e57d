# C source of models: heddle compile --emit c.
test-bundle: heddle ## models as C source, compiled and run on the ISS against the runtime
	$(Q)LIBS="$(LDLIBS)" test/bundle/run.sh $(B) "$(filter -fsanitize% --coverage,$(MODE))"
test: test-bundle
.PHONY: test-bundle
