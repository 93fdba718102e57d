SRCS += $(filter-out cpu_ref/dnnl_%.c cpu_ref/jit_%.c,$(wildcard cpu_ref/*.c))
# Kernels with their own processor check; the rest of the program stays as portable as asked for.
ifeq ($(shell uname -m),x86_64)
FLAGS_cpu_ref/cpu_int8.c     := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_map.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_dense.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_depth.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_pack.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_rows.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_matmul.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_rnn.c := -O3 -mavx2 -mfma
FLAGS_cpu_ref/cpu_int8_dot16.c := -O3 -mavx512f -mavx512bw -mavx512vl -mavx512vnni
FLAGS_cpu_ref/cpu_int8_dot8.c  := -O3 -mavx2 -mfma -mavxvnni
FLAGS_cpu_ref/cpu_reduce.c   := -O3
FLAGS_cpu_ref/cpu_rnn_run.c  := -O3 -mavx2 -mfma -ffp-contract=fast
endif

# Nothing here looks at the flags of floating point exceptions; gcc makes vectors of choices then.
FLAGS_cpu_ref/k_quant.c := -O3 -fno-trapping-math
# Products of gates.
FLAGS_cpu_ref/k_qrnn.c := -O3

# Plugins of device cpu, opened at run time: oneDNN and LLVM stay out of the program, which runs
# without them. Each is built where its library is installed.
DNNL_SRCS := cpu_ref/dnnl_plugin.c cpu_ref/dnnl_ops.c
PLUGINS   := $(if $(wildcard /usr/include/oneapi/dnnl/dnnl.h),$(B)/libhd_dnnl.so)
JIT_SRCS  := cpu_ref/jit_plugin.c cpu_ref/jit_gen.c cpu_ref/jit_math.c
LLVM      := /usr/lib/llvm-19
PLUGINS   += $(if $(wildcard $(LLVM)/include/llvm-c/LLJIT.h),$(B)/libhd_jit.so)
plugin     = mkdir -p $(@D); echo "  SO    $@"; \
             $(CC) $(OURS) $(CFLAGS) $(MODE) -fPIC -shared $(filter %.c,$^) $(1) -o $@.$$$$ && mv $@.$$$$ $@
$(B)/libhd_dnnl.so: $(DNNL_SRCS) cpu_ref/dnnl_api.h cpu_ref/dnnl_int.h $(B)/flags
	$(Q)$(call plugin,-ldnnl)
$(B)/libhd_jit.so: $(JIT_SRCS) cpu_ref/jit_api.h cpu_ref/jit_int.h $(B)/flags
	$(Q)$(call plugin,-isystem $(LLVM)/include -L$(LLVM)/lib -lLLVM-19)
lib tests test-unit: $(PLUGINS)
FLAGS_cpu_ref/jit_int.h := -isystem $(LLVM)/include
ABSENT_HEADERS += $(if $(findstring jit,$(PLUGINS)),,cpu_ref/jit_int.h) $(if $(findstring dnnl,$(PLUGINS)),,cpu_ref/dnnl_int.h)
