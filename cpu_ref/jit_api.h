/* Between device cpu and its LLVM plugin (jit_plugin.c): fused loops as little programs.
 *
 * A kernel works on rows of n elements. Every instruction makes a value, either one per element or
 * one per row; a reduction makes a row's value from elements, and may be used by later instructions
 * on elements, so softmax and layer normalisation are one kernel.
 *
 *   load x        e0 = x[j]
 *   max-of-row    r1 = max over j of e0
 *   sub, exp      e2 = exp(e0 - r1)
 *   sum-of-row    r3 = sum over j of e2
 *   div, store    y[j] = e2 / r3
 *
 * All arithmetic is binary32, one rounding an operation, no contraction; sums of a row are added in
 * an order of the compiler's choice. Truth values are 0 and 1 in a byte in memory.
 */
#ifndef HD_CPU_REF_JIT_API_H
#define HD_CPU_REF_JIT_API_H

#include <stdbool.h>
#include <stdint.h>

enum { HD_JIT_API = 3, HD_JIT_INS = 96, HD_JIT_PTRS = 24, HD_JIT_PAD = 64 };

/* name, operands (values), kind of result: F float, B truth */
#define HD_JIT_LIST(X)                                                                             \
    X(LOAD, 0, F) /* from pointer `ptr` */                                                         \
    X(LOAD_TRUTH, 0, B)                                                                            \
    X(CONST, 0, F) /* imm */                                                                       \
    X(ADD, 2, F)                                                                                   \
    X(SUB, 2, F)                                                                                   \
    X(MUL, 2, F)                                                                                   \
    X(DIV, 2, F)                                                                                   \
    X(MAX, 2, F) /* a > b or a is NaN ? a : b */                                                   \
    X(MIN, 2, F)                                                                                   \
    X(NEG, 1, F)                                                                                   \
    X(ABS, 1, F)                                                                                   \
    X(SQRT, 1, F)                                                                                  \
    X(FLOOR, 1, F)                                                                                 \
    X(CEIL, 1, F)                                                                                  \
    X(ROUND, 1, F) /* ties to even */                                                              \
    X(EXP, 1, F)                                                                                   \
    X(LOG, 1, F)                                                                                   \
    X(TANH, 1, F)                                                                                  \
    X(SIGMOID, 1, F)                                                                               \
    X(ERF, 1, F)                                                                                   \
    X(LESS, 2, B)                                                                                  \
    X(LESS_EQUAL, 2, B)                                                                            \
    X(EQUAL, 2, B)                                                                                 \
    X(AND, 2, B)                                                                                   \
    X(OR, 2, B)                                                                                    \
    X(XOR, 2, B)                                                                                   \
    X(NOT, 1, B)                                                                                   \
    X(SELECT, 3, F) /* a ? b : c */                                                                \
    X(ROW_SUM, 1, F)                                                                               \
    X(ROW_MAX, 1, F)                                                                               \
    X(ROW_MIN, 1, F)                                                                               \
    X(STORE, 1, F) /* to pointer `ptr`; has no value */                                            \
    X(STORE_TRUTH, 1, B)

enum hd_jit_op {
#define X(name, n, kind) HD_JIT_##name,
    HD_JIT_LIST(X)
#undef X
        HD_JIT_OPS
};

struct hd_jit_ins {
    int16_t op, ptr, a, b, c; /* a, b, c: instructions that make the operands */
    int16_t row;              /* made once a row (LOAD, CONST and what depends on such alone) */
    float imm;
};

struct hd_jit_program { /* zeroed before it is filled: it is its own key in the cache */
    int16_t n_ins, n_ptrs;
    int16_t strided[HD_JIT_PTRS]; /* elements are not adjacent: stride at run */
    struct hd_jit_ins ins[HD_JIT_INS];
};

/* ptr[i]: element 0 of row 0; row_step[i]: bytes from row to row; step[i]: elements from element to
 * element, for strided pointers. scratch: slots() * (n + HD_JIT_PAD) floats. */
typedef void (*hd_jit_fn)(char *const *ptr, const int64_t *row_step, const int64_t *step,
                          int64_t rows, int64_t n, float *scratch);

struct hd_jit_api {
    int version; /* HD_JIT_API */
    void *(*open)(void);
    void (*close)(void *engine);
    /* NULL when LLVM refuses; *why is then its message, valid until the next call. The function
     * lives as long as the engine; equal programs give the same one. */
    hd_jit_fn (*compile)(void *engine, const struct hd_jit_program *p, const char **why);
    /* LLVM IR in text, whose functions have attributes #0 that the engine writes. False as above.
     */
    bool (*build)(void *engine, const char *text, const char **why);
    void *(*find)(void *engine, const char *function); /* of what was built; NULL = none */
    int (*lanes)(void *engine);                        /* f32 of a vector register */
    int (*vnni)(void *engine); /* sums of the widest vpdpbusd: 16, 8 (256 bits), 0 = it has none */
    const char *(*processor)(void *engine);
    int (*slots)(const struct hd_jit_program *p); /* arrays of scratch that it needs */
};

#define HD_JIT_ENTRY "hd_jit_api_table"

#endif
