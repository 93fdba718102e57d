# Compiler and ISS as WebAssembly in one HTML file, by Debian's emscripten. WEB_LEFT_OUT stays behind: commands, the
# device cpu, other devices than golden and iss, what reads or writes with json-c, zlib and libzip, quantising, training.

WEB      := build/web
WEB_PAGE := $(WEB)/heddle.html
EMCC     ?= emcc
WEB_LEFT_OUT := compiler/cli/% compiler/bench/% compiler/command/json_read.c compiler/explore/% compiler/train/% $(filter-out compiler/calibrate/run.c,$(wildcard compiler/calibrate/*.c)) \
    $(filter-out compiler/session/devices.c,$(wildcard compiler/session/*.c)) compiler/loop/% compiler/compare/first_diff.c compiler/compare/models.c compiler/compare/capture.c \
    compiler/tensors/npy.c compiler/tensors/image% compiler/report/picture.c compiler/report/waves.c compiler/api/quantize.c compiler/api/train.c compiler/tune/% compiler/schedules/% compiler/kept.c \
    cpu_ref/cpu% gpu_ref/% driver/% runtime/train/% runtime/ranks/% runtime/devices.c runtime/base/plugin.c \
    runtime/base/socket.c sim/rtl_dev.c sim/rtl_find.c sim/rtl_jobs.c sim/rtl_part.c sim/iss_cut.c
WEB_SRCS := $(filter-out $(WEB_LEFT_OUT),$(SRCS)) $(wildcard scripts/web/*.c)
WEB_OBJS := $(WEB_SRCS:%.c=$(WEB)/%.o)
# Debian's acorn is found by a node of other makers, too.
EM        = NODE_PATH=/usr/share/nodejs $(EMCC)
WEB_FLAGS := -Iscripts/web/include -I. -I$(B)/compiler/report -std=c11 -D_XOPEN_SOURCE=700 -DNDEBUG -O2 -msimd128 \
    -ffunction-sections -ffp-contract=off -Wall -Wno-unused-function
# Worker: the engine runs beside the page, in one thread. Memory grows to what the bar allows.
WEB_LINK  := -O2 -msimd128 -sENVIRONMENT=worker -sMODULARIZE -sEXPORT_NAME=heddle -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB \
    -sTOTAL_STACK=4MB -sEXPORTED_FUNCTIONS=_malloc,_free,_web_machines,_web_machine,_web_run \
    -sEXPORTED_RUNTIME_METHODS=ccall,FS

$(WEB)/%.o: %.c mk/web.mk
	@mkdir -p $(@D); echo "  EMCC  $<"
	$(Q)$(EM) $(WEB_FLAGS) $(filter-out -m% -O3,$(FLAGS_$<)) -MMD -MP -c $< -o $@
$(WEB)/compiler/report/html.o: $(PAGE:%=$(B)/compiler/report/%.inc)
$(WEB)/heddle.js: $(WEB_OBJS)
	@echo "  EMLD  $@"
	$(Q)rm -f $(WEB)/libheddle.a && emar rcs $(WEB)/libheddle.a $(filter-out %/web.o,$^)
	$(Q)$(EM) $(WEB_LINK) $(filter %/web.o,$^) $(WEB)/libheddle.a -o $@
$(WEB_PAGE): $(WEB)/heddle.js scripts/web/pack.py scripts/web/page.html scripts/web/page.js scripts/web/worker.js
	$(Q)python3 scripts/web/pack.py scripts/web $(WEB) $@
	@echo "  WEB   $@ ($$(wc -c < $@) bytes)"
-include $(if $(MODELS_ONLY),,$(wildcard $(WEB_OBJS:%.o=%.d)))

ifneq ($(shell command -v $(EMCC) 2> /dev/null),)
web: $(WEB_PAGE) ## compiler and ISS in one HTML file, build/web/heddle.html (scripts/deps.sh web)
test-web: web heddle ## the page in headless Chromium: cycles as heddle run says, within time and memory
	$(Q)python3 test/web/test_web.py $(WEB_PAGE) $(B)/heddle $(wildcard $(SHARED)/mlperf_ic_resnet8_int8_qdq $(SHARED)/mobilenet_v2_qdq_int8)
else
web test-web: ; @echo "  SKIP  $@: there is no $(EMCC); scripts/deps.sh web installs emscripten and Chromium"
endif
nightly: test-web
.PHONY: web test-web
