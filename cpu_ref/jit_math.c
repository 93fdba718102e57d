/* exp, log, tanh, sigmoid, erf as polynomials, in LLVM IR: see jit_int.h.
 *
 * The coefficients are Chebyshev interpolations of the function named at each table, in double,
 * rounded; the relative error of each before rounding is beside it.
 */
#include <math.h>

#include "cpu_ref/jit_int.h"

#define N_OF(t) ((int)(sizeof(t) / sizeof *(t)))

static LLVMValueRef add(const struct hd_jit_gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFAdd(g->b, a, b, "");
}
static LLVMValueRef sub(const struct hd_jit_gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFSub(g->b, a, b, "");
}
static LLVMValueRef mul(const struct hd_jit_gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFMul(g->b, a, b, "");
}
static LLVMValueRef k(const struct hd_jit_gen *g, double v) {
    return hd_jit_const(g, v);
}
/* a * b + c, rounded once where the processor can, which LLVM may choose (fmuladd). */
static LLVMValueRef fma3(const struct hd_jit_gen *g, LLVMValueRef a, LLVMValueRef b,
                         LLVMValueRef c) {
    LLVMTypeRef t = LLVMTypeOf(a);
    LLVMValueRef f =
        LLVMGetIntrinsicDeclaration(g->m, LLVMLookupIntrinsicID("llvm.fmuladd", 12), &t, 1);
    return LLVMBuildCall2(
        g->b, LLVMIntrinsicGetType(g->c, LLVMLookupIntrinsicID("llvm.fmuladd", 12), &t, 1), f,
        (LLVMValueRef[]){a, b, c}, 3, "");
}
static LLVMValueRef when(const struct hd_jit_gen *g, LLVMRealPredicate p, LLVMValueRef a,
                         LLVMValueRef b, LLVMValueRef yes, LLVMValueRef no) {
    return LLVMBuildSelect(g->b, LLVMBuildFCmp(g->b, p, a, b, ""), yes, no, "");
}

static LLVMValueRef polynomial(const struct hd_jit_gen *g, LLVMValueRef x, const double *c, int n) {
    LLVMValueRef y = k(g, c[n - 1]);
    for (int i = n - 2; i >= 0; i--) y = fma3(g, y, x, k(g, c[i]));
    return y;
}

static LLVMValueRef int_const(const struct hd_jit_gen *g, int v) {
    LLVMTypeRef t = LLVMInt32TypeInContext(g->c);
    LLVMValueRef one = LLVMConstInt(t, (unsigned long long)(long long)v, 1), all[64];
    if (g->lanes == 1) return one;
    for (int i = 0; i < g->lanes; i++) all[i] = one;
    return LLVMConstVector(all, (unsigned)g->lanes);
}

/* x = n ln 2 + r; exp(x) = 2^n (1 + r + r^2 q(r)). Below -86.6 the result is 0. */
LLVMValueRef hd_jit_exp(const struct hd_jit_gen *g, LLVMValueRef x) {
    /* (exp(r) - 1 - r) / r^2 on +-0.35, 2.4e-10 */
    static const double q[] = {0.500000001,   0.166666667,   0.0416664568,
                               0.00833331003, 0.00139345419, 0.000198919795};
    LLVMValueRef low = k(g, -86.6), high = k(g, 88.7228394);
    LLVMValueRef t = when(g, LLVMRealOLT, x, low, low, x);
    t = when(g, LLVMRealOGT, t, high, high, t);
    LLVMValueRef n = hd_jit_call(g, "llvm.rint", mul(g, t, k(g, 1.44269504088896341)));
    /* ln 2 in two parts; the first has few bits, so n times it is exact */
    LLVMValueRef r = fma3(g, n, k(g, -0.693359375), t);
    r = fma3(g, n, k(g, 2.12194440e-4), r);
    LLVMValueRef y = polynomial(g, r, q, N_OF(q));
    y = add(g, fma3(g, mul(g, r, r), y, r), k(g, 1));
    /* 2^(n - 1), then 2 more, so that n = 128 is no special case; NaN turns into a number here */
    LLVMValueRef ok = LLVMBuildFCmp(g->b, LLVMRealORD, x, x, "");
    LLVMValueRef whole =
        LLVMBuildFPToSI(g->b, LLVMBuildSelect(g->b, ok, n, k(g, 0), ""), hd_jit_i32(g), "");
    LLVMValueRef bits =
        LLVMBuildShl(g->b, LLVMBuildAdd(g->b, whole, int_const(g, 126), ""), int_const(g, 23), "");
    y = mul(g, mul(g, y, LLVMBuildBitCast(g->b, bits, hd_jit_f32(g), "")), k(g, 2));
    y = when(g, LLVMRealOLT, x, low, k(g, 0), y);
    y = when(g, LLVMRealOGT, x, high, k(g, HUGE_VAL), y);
    return LLVMBuildSelect(g->b, ok, y, x, "");
}

/* x = 2^n m, m in sqrt(1/2) .. sqrt(2), f = m - 1; log(1 + f) = f - f^2 / 2 + f^3 q(f). */
LLVMValueRef hd_jit_log(const struct hd_jit_gen *g, LLVMValueRef x) {
    /* (log(1 + f) - f + f^2 / 2) / f^3, 3.2e-9 */
    static const double q[] = {0.333333312,  -0.24999997, 0.200007157,  -0.166678023, 0.142490576,
                               -0.124256873, 0.116854199, -0.114797338, 0.0697161146};
    LLVMValueRef tiny = LLVMBuildFCmp(g->b, LLVMRealOLT, x, k(g, 1.17549435e-38), "");
    LLVMValueRef s = LLVMBuildSelect(g->b, tiny, mul(g, x, k(g, 33554432)), x, ""); /* 2^25 */
    LLVMValueRef bits = LLVMBuildBitCast(g->b, s, hd_jit_i32(g), "");
    /* 0x3f3504f3 is sqrt(1/2): what is above it counts for the exponent */
    LLVMValueRef off = LLVMBuildSub(g->b, bits, int_const(g, 0x3f3504f3), "");
    LLVMValueRef e = LLVMBuildAShr(g->b, off, int_const(g, 23), "");
    LLVMValueRef m = LLVMBuildSub(g->b, bits, LLVMBuildShl(g->b, e, int_const(g, 23), ""), "");
    LLVMValueRef n = LLVMBuildSIToFP(g->b, e, hd_jit_f32(g), "");
    n = LLVMBuildSelect(g->b, tiny, sub(g, n, k(g, 25)), n, "");
    LLVMValueRef f = sub(g, LLVMBuildBitCast(g->b, m, hd_jit_f32(g), ""), k(g, 1));
    LLVMValueRef f2 = mul(g, f, f), y = mul(g, mul(g, f, f2), polynomial(g, f, q, N_OF(q)));
    y = fma3(g, n, k(g, -2.12194440e-4), y);
    y = add(g, f, fma3(g, k(g, -0.5), f2, y));
    y = fma3(g, n, k(g, 0.693359375), y);
    y = when(g, LLVMRealOEQ, x, k(g, HUGE_VAL), x, y);
    y = when(g, LLVMRealOEQ, x, k(g, 0), k(g, -HUGE_VAL), y);
    y = when(g, LLVMRealOLT, x, k(g, 0), k(g, (double)NAN), y);
    return when(g, LLVMRealUNO, x, x, x, y);
}

/* |x| < 0.625: x + x^3 q(x^2), else 1 - 2 / (exp(2 |x|) + 1) with the sign of x. */
LLVMValueRef hd_jit_tanh(const struct hd_jit_gen *g, LLVMValueRef x) {
    /* (tanh(x) - x) / x^3 in x^2, 1.7e-8 */
    static const double q[] = {-0.333333289, 0.133327697, -0.0538509096, 0.020997179,
                               -0.00609671416};
    LLVMValueRef a = hd_jit_call(g, "llvm.fabs", x), z = mul(g, x, x);
    LLVMValueRef small = fma3(g, mul(g, x, z), polynomial(g, z, q, N_OF(q)), x);
    LLVMValueRef e = add(g, hd_jit_exp(g, add(g, a, a)), k(g, 1));
    LLVMValueRef big = sub(g, k(g, 1), LLVMBuildFDiv(g->b, k(g, 2), e, ""));
    big = when(g, LLVMRealOLT, x, k(g, 0), LLVMBuildFNeg(g->b, big, ""), big);
    return when(g, LLVMRealOLT, a, k(g, 0.625), small, big);
}

LLVMValueRef hd_jit_sigmoid(const struct hd_jit_gen *g, LLVMValueRef x) {
    LLVMValueRef e = hd_jit_exp(g, LLVMBuildFNeg(g->b, x, ""));
    return LLVMBuildFDiv(g->b, k(g, 1), add(g, k(g, 1), e), "");
}

/* |x| < 1: x q(x^2), else 1 - exp(-x^2) p(1 / (1 + 0.4 |x|)) with the sign of x. */
LLVMValueRef hd_jit_erf(const struct hd_jit_gen *g, LLVMValueRef x) {
    /* erf(x) / x in x^2, 1.3e-9 */
    static const double q[] = {1.12837917,    -0.376126267,    0.112835947,   -0.026854212,
                               0.00518908742, -0.000801686428, 7.87587505e-05};
    /* erfc(x) exp(x^2) on 1 .. 4.2, 4.9e-8 */
    static const double p[] = {-0.00128695581, 0.243237451, 0.124325317, 0.526411883,
                               -0.410427372,   0.71370284,  -0.195821913};
    LLVMValueRef a = hd_jit_call(g, "llvm.fabs", x), z = mul(g, x, x);
    LLVMValueRef small = mul(g, x, polynomial(g, z, q, N_OF(q)));
    LLVMValueRef t = LLVMBuildFDiv(g->b, k(g, 1), fma3(g, a, k(g, 0.4), k(g, 1)), "");
    LLVMValueRef e = hd_jit_exp(g, LLVMBuildFNeg(g->b, z, ""));
    LLVMValueRef big = sub(g, k(g, 1), mul(g, e, polynomial(g, t, p, N_OF(p))));
    big = when(g, LLVMRealOGT, a, k(g, 4.2), k(g, 1), big);
    big = when(g, LLVMRealOLT, x, k(g, 0), LLVMBuildFNeg(g->b, big, ""), big);
    LLVMValueRef y = when(g, LLVMRealOLT, a, k(g, 1), small, big);
    return when(g, LLVMRealUNO, x, x, x, y);
}
