/* The languages that loops are printed in. */
#include <stddef.h>

#include "compiler/loop/dialect.h"

#define WRAP_AND_SHIFT(i64, u64)                                                                   \
    "#define WRAP(a, op, b) ((" i64 ")((" u64 ")(a)op(" u64 ")(b)))\n"                             \
    "#define SHIFT(a, op, b) ((" u64 ")(b) > 63 ? 0 : (" u64 ")(a)op(b))\n"

static const char c_prologue[] = "#include <math.h>\n#include <stdint.h>\n" WRAP_AND_SHIFT(
    "int64_t",
    "uint64_t") "#define HD_PRAGMA(x) _Pragma(#x)\n"
                "#ifdef _OPENMP\n#define HD_PARALLEL HD_PRAGMA(omp parallel for)\n"
                "#else\n#define HD_PARALLEL\n#endif\n"
                "#ifdef __clang__\n#define HD_VECTOR HD_PRAGMA(clang loop "
                "vectorize(assume_safety))\n"
                "#define HD_UNROLL(n) HD_PRAGMA(clang loop unroll_count(n))\n"
                "#else\n#define HD_VECTOR HD_PRAGMA(GCC ivdep)\n"
                "#define HD_UNROLL(n) HD_PRAGMA(GCC unroll n)\n#endif\n"
                "static inline double hd_trunc(double v) { return trunc(v); }\n"
                "static inline double hd_even(double v) { return rint(v); }\n"
                "static inline double hd_away(double v) { return round(v); }\n"
                "static inline double hd_floor(double v) { return floor(v); }\n"
                "static inline double hd_ceil(double v) { return ceil(v); }\n"
                "static inline int64_t hd_int_double(double v, double lo, double hi, int64_t most) "
                "{\n"
                "    return v != v ? 0 : v <= lo ? (int64_t)lo : v >= hi ? most : (int64_t)v;\n}\n"
                "static inline int64_t hd_clamp(int64_t v, int64_t lo, int64_t hi) {\n"
                "    return v < lo ? lo : v > hi ? hi : v;\n}\n";

const struct hd_dialect hd_dialect_c = {
    .name = "c",
    .prologue = c_prologue,
    .type = {[HD_I8] = "int8_t",
             [HD_I16] = "int16_t",
             [HD_I32] = "int32_t",
             [HD_I64] = "int64_t",
             [HD_U8] = "uint8_t",
             [HD_U16] = "uint16_t",
             [HD_U32] = "uint32_t",
             [HD_U64] = "uint64_t",
             [HD_F32] = "float",
             [HD_F64] = "double",
             [HD_BOOL] = "uint8_t"},
    .helper = "static inline",
    .fn_names = "#include <stdbool.h>\n#include <string.h>\n#define FN_STATIC static\n"
                "#define FN_ROWS static const\n"
                "static inline uint32_t FN_BITS(float x) {\n"
                "    uint32_t y;\n    memcpy(&y, &x, sizeof y);\n    return y;\n}\n"
                "static inline float FN_FLOAT(uint32_t x) {\n"
                "    float y;\n    memcpy(&y, &x, sizeof y);\n    return y;\n}\n",
};

/* Rounding is overloaded. The limits of small types are exact in f32; those of larger ones are not
 * met by any f32 below them. */
#define OVERLOADED(helper)                                                                         \
    "#define hd_trunc(v) trunc(v)\n#define hd_even(v) rint(v)\n#define hd_away(v) round(v)\n"      \
    "#define hd_floor(v) floor(v)\n#define hd_ceil(v) ceil(v)\n" helper                            \
    " long hd_clamp(long v, long lo, long hi) { return v < lo ? lo : v > hi ? hi : v; "            \
    "}\n" INT32_OF(helper) INT_OF(helper, "float")
#define INT32_OF(helper)                                                                           \
    helper " int hd_int32_float(float v, float lo, float hi, int most) {\n"                        \
           "    return v != v ? 0 : v <= lo ? (int)lo : v >= hi ? most : (int)v;\n}\n"             \
           "#ifdef __CUDA_ARCH__\n#define hd_i32_even(v) __float2int_rn(v)\n#else\n"               \
           "#define hd_i32_even(v) hd_int32_float(rint(v), -2147483648.0f, 2147483648.0f, "        \
           "2147483647)\n#endif\n"
#define INT_OF(helper, type)                                                                       \
    helper " long hd_int_" type "(" type " v, " type " lo, " type " hi, long most) {\n"            \
           "    return v != v ? 0 : v <= lo ? (long)lo : v >= hi ? most : (long)v;\n}\n"
#define GATHER(helper, global)                                                                     \
    helper " int hd_gather(long i, long n, " global "int *fault) {\n"                              \
           "    if (i >= 0 && i < n) return (int)i;\n    *fault = 1;\n    return 0;\n}\n"

#define GPU_TYPES                                                                                  \
    .type = {[HD_I8] = "char",   [HD_I16] = "short",  [HD_I32] = "int",   [HD_I64] = "long",       \
             [HD_U8] = "uchar",  [HD_U16] = "ushort", [HD_U32] = "uint",  [HD_U64] = "ulong",      \
             [HD_F32] = "float", [HD_F64] = "double", [HD_BOOL] = "uchar"},                        \
    .overloads = true, .int_indexes = true

#define FN_TYPES                                                                                   \
    "#define int32_t int\n#define int64_t long\n#define uint32_t uint\n"                           \
    "#define INT64_C(v) v##L\n#define UINT32_C(v) v##u\n"

#define OPENCL_HELPER "static inline"
const struct hd_dialect hd_dialect_opencl = {
    .name = "opencl",
    .prologue = "#pragma OPENCL FP_CONTRACT OFF\n" WRAP_AND_SHIFT("long", "ulong")
        OVERLOADED(OPENCL_HELPER) GATHER(OPENCL_HELPER, "__global ") "#ifdef cl_khr_fp64\n" INT_OF(
            OPENCL_HELPER, "double") "#endif\n",
    GPU_TYPES,
    .helper = OPENCL_HELPER,
    .fn_names = FN_TYPES "#define FN_STATIC static inline\n#define FN_ROWS __constant\n"
                         "#define FN_BITS(x) as_uint(x)\n#define FN_FLOAT(x) as_float(x)\n",
    .kernel = "__kernel void",
    .alone = "restrict ",
    .global = "__global ",
    .local = "__local ",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .block = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
    .thread = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
};

#define CUDA_HELPER "static __device__ inline"
/* Sums of products of bytes: signed or unsigned, s or u, first and second operand. */
#define CUDA_DP4A(a, b)                                                                            \
    CUDA_HELPER " int hd_dp4a_" #a #b "(int a, int b, int c) {\n"                                  \
                "    int d;\n    asm(\"dp4a." #a "32." #b "32 %0, %1, %2, %3;\" : \"=r\"(d) : "    \
                "\"r\"(a), \"r\"(b), \"r\"(c));\n    return d;\n}\n"
#define CUDA_MMA(a, b)                                                                             \
    CUDA_HELPER                                                                                    \
    " void hd_mma_" #a #b "(int *c, const int *a, const int *b) {\n"                               \
    "    asm volatile(\"mma.sync.aligned.m16n8k32.row.col.s32." #a "8." #b "8.s32 "                \
    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\"\n"                                    \
    "        : \"+r\"(c[0]), \"+r\"(c[1]), \"+r\"(c[2]), \"+r\"(c[3])\n"                           \
    "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "                  \
    "\"r\"(b[1]));\n}\n"
/* 16 bytes, and copies of them to shared memory while the program goes on; groups of copies are
 * waited for until at most n are open. Elements that lie side by side. */
#define CUDA_COPIES                                                                                \
    "struct __align__(16) hd_16 { int w[4]; };\n" CUDA_HELPER                                      \
    " hd_16 hd_fill16(int byte) {\n    const int w = (int)(byte * 0x01010101u);\n"                 \
    "    return hd_16{{w, w, w, w}};\n}\n"                                                         \
    "template <class T, int n> struct __align__(sizeof(T) * n) hd_vector { T lane[n]; };\n"        \
    "#if __CUDA_ARCH__ >= 800\n" CUDA_HELPER " void hd_copy16(hd_16 *to, const hd_16 *from) {\n"   \
    "    const uint at = (uint)__cvta_generic_to_shared(to);\n"                                    \
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"(at), \"l\"(from) : "   \
    "\"memory\");\n}\n" CUDA_HELPER                                                                \
    " void hd_copy_commit() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }\n"        \
    "template <int n> " CUDA_HELPER " void hd_copy_wait() { asm volatile(\"cp.async.wait_group "   \
    "%0;\" ::\"n\"(n) : \"memory\"); }\n"                                                          \
    "#endif\n"
#define CUDA_INTRINSICS                                                                            \
    CUDA_COPIES                                                                                    \
    "#if __CUDA_ARCH__ >= 610\n" CUDA_DP4A(s, s) CUDA_DP4A(u, s)                                   \
        CUDA_DP4A(u, u) "#endif\n#if __CUDA_ARCH__ >= 800\n" CUDA_MMA(s, s) CUDA_MMA(s, u)         \
            CUDA_MMA(u, s) CUDA_MMA(u, u) "#endif\n"
const struct hd_dialect hd_dialect_cuda = {
    .name = "cuda",
    .prologue =
        "typedef unsigned char uchar;\ntypedef unsigned short ushort;\ntypedef unsigned int uint;\n"
        "typedef unsigned long ulong;\n#define NAN __int_as_float(0x7fffffff)\n"
        "#define INFINITY __int_as_float(0x7f800000)\n" WRAP_AND_SHIFT("long", "ulong")
            OVERLOADED(CUDA_HELPER) GATHER(CUDA_HELPER, "") INT_OF(CUDA_HELPER, "double")
                CUDA_INTRINSICS,
    GPU_TYPES,
    .intrinsics = true,
    .helper = CUDA_HELPER,
    .fn_names = FN_TYPES "#define FN_STATIC static __device__ inline\n"
                         "#define FN_ROWS static __device__ const\n"
                         "#define FN_BITS(x) ((uint)__float_as_int(x))\n"
                         "#define FN_FLOAT(x) __int_as_float((int)(x))\n",
    .kernel = "extern \"C\" __global__ void",
    .alone = "__restrict__ ",
    .bounds = "__launch_bounds__",
    .global = "",
    .local = "__shared__ __align__(16) ",
    .barrier = "__syncthreads()",
    .block = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
    .thread = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
};

/* ---- functions ------------------------------------------------------------------------------ */

static const char *const fn_code[] = {
    "enum hd_fn {",
#define FUNCTION(NAME, name, code, doc) "HD_FN_" #NAME " = " #code ",",
#include "runtime/base/functions.def"
    "};\nstruct row { int32_t c0, c1, c2; };\nFN_ROWS struct row rows[] = {\n",
#define ROW(c0, c1, c2) "{" #c0 "," #c1 "," #c2 "},",
#include "runtime/base/fn.def"
    "};\nenum {",
#define TABLE(name, n) "AT_" #name ", END_" #name " = AT_" #name " + (" #n ") - 1,",
#include "runtime/base/fn.def"
    "};\n",
#define FN_CODE(...) #__VA_ARGS__ "\n",
#include "runtime/base/fn_code.def"
};

void hd_dialect_print_fn(const struct hd_dialect *d, FILE *out) {
    fprintf(out, "#ifndef HD_FN\n#define HD_FN\n%s", d->fn_names);
    for (size_t i = 0; i < sizeof fn_code / sizeof *fn_code; i++) fputs(fn_code[i], out);
    fputs("FN_STATIC float hd_fn(enum hd_fn fn, float x) {\n"
          "    return FN_FLOAT(fn_bits(fn, FN_BITS(x)));\n}\n#endif\n",
          out);
}
