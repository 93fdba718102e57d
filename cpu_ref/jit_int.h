/* Inside the LLVM plugin: what the code generator's parts share. */
#ifndef HD_CPU_REF_JIT_INT_H
#define HD_CPU_REF_JIT_INT_H

#include <llvm-c/Core.h>

#include "cpu_ref/jit_api.h"

struct hd_jit_gen { /* one function in the making */
    LLVMContextRef c;
    LLVMModuleRef m;
    LLVMBuilderRef b;
    LLVMValueRef fn;
    const struct hd_jit_program *p;
    int lanes; /* 1: scalar code */
    int width; /* elements of a vector */
};

/* Types of the lanes in force: float, or <width x float>. */
LLVMTypeRef hd_jit_f32(const struct hd_jit_gen *g);
LLVMTypeRef hd_jit_i32(const struct hd_jit_gen *g);
LLVMValueRef hd_jit_const(const struct hd_jit_gen *g, double v);
/* name: "llvm.sqrt", ..; overloaded by the type of a. */
LLVMValueRef hd_jit_call(const struct hd_jit_gen *g, const char *name, LLVMValueRef a);

/* jit_math.c: functions of floats, within 4 units in the last place of the result (ERF, SIGMOID,
 * TANH: of 1 where the result is below 1) over the whole range. */
LLVMValueRef hd_jit_exp(const struct hd_jit_gen *g, LLVMValueRef x);
LLVMValueRef hd_jit_log(const struct hd_jit_gen *g, LLVMValueRef x);
LLVMValueRef hd_jit_tanh(const struct hd_jit_gen *g, LLVMValueRef x);
LLVMValueRef hd_jit_sigmoid(const struct hd_jit_gen *g, LLVMValueRef x);
LLVMValueRef hd_jit_erf(const struct hd_jit_gen *g, LLVMValueRef x);

/* jit_gen.c: the whole function, named `name`. */
void hd_jit_generate(struct hd_jit_gen *g, const char *name);
int hd_jit_slots(const struct hd_jit_program *p);

#endif
