/* Products by cuBLASLt: see cublaslt.h. Source of calls and numbers: cublasLt.h of CUDA 13.0, whose
 * interface is that of CUDA 11.
 *
 * The library's matrices are stored by columns. A matrix of ours, by rows, is its transpose there:
 * y = a b is computed as y' = b' a', with b as the first operand. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "gpu_ref/cublaslt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ref/cuda_api.h"

enum {
    R_32F = 0,
    DESC_TRANSA = 3, /* attributes of a product */
    DESC_TRANSB = 4,
    DESC_EPILOGUE = 7,
    DESC_BIAS_POINTER = 8,
    LAYOUT_BATCH_COUNT = 5, /* of a matrix */
    LAYOUT_BATCH_OFFSET = 6,
    PREFERENCE_WORKSPACE_BYTES = 1,
    EPILOGUE_RELU = 2,
    EPILOGUE_BIAS = 4,
    OP_T = 1,
    STATUS_ALLOC_FAILED = 3,
    WORKSPACE_BYTES = 32 << 20
};

struct algorithm { /* cublasLtMatmulHeuristicResult_t */
    uint64_t data[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
};

#define LT_CALLS(X)                                                                                \
    X(cublasLtCreate, (void **out))                                                                \
    X(cublasLtDestroy, (void *handle))                                                             \
    X(cublasLtMatmulDescCreate, (void **out, int compute, int scale_type))                         \
    X(cublasLtMatmulDescSetAttribute, (void *desc, int attr, const void *v, size_t bytes))         \
    X(cublasLtMatmulDescDestroy, (void *desc))                                                     \
    X(cublasLtMatrixLayoutCreate,                                                                  \
      (void **out, int type, uint64_t rows, uint64_t columns, int64_t leading))                    \
    X(cublasLtMatrixLayoutSetAttribute, (void *layout, int attr, const void *v, size_t bytes))     \
    X(cublasLtMatrixLayoutDestroy, (void *layout))                                                 \
    X(cublasLtMatmulPreferenceCreate, (void **out))                                                \
    X(cublasLtMatmulPreferenceSetAttribute, (void *pref, int attr, const void *v, size_t bytes))   \
    X(cublasLtMatmulPreferenceDestroy, (void *pref))                                               \
    X(cublasLtMatmulAlgoGetHeuristic,                                                              \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int n,            \
       struct algorithm *out, int *out_n))                                                         \
    X(cublasLtMatmul,                                                                              \
      (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b,  \
       void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,   \
       const void *algorithm, void *workspace, size_t workspace_bytes, void *stream))

static struct {
#define X(name, args) int(*name) args;
    LT_CALLS(X)
#undef X
} lt;
static bool is_here;

struct hd_blas {
    void *handle;
};

struct hd_blas_call {
    void *desc, *layout[3]; /* of b', a', y' */
    struct algorithm algorithm;
    bool bias;
};

/* ---- the library ---------------------------------------------------------------------------- */

static void open_library(void) {
    static const char *const name[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    void *lib;
    is_here = hd_cuda_library("cublasLtCreate", name, 3, &lib);
#define X(name, args)                                                                              \
    if (is_here) {                                                                                 \
        *(void **)&lt.name = dlsym(lib, #name);                                                    \
        is_here = lt.name != NULL;                                                                 \
    }
    LT_CALLS(X)
#undef X
}

const char *hd_blas_why_not(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *off = hd_cuda_library_off("cublaslt");
    if (off) return off;
    pthread_once(&once, open_library);
    return is_here ? NULL : "libcublasLt.so is not here, which comes with the CUDA toolkit";
}

static hd_status failed(hd_ctx *ctx, const char *call, int status) {
    return hd_fail(ctx, status == STATUS_ALLOC_FAILED ? HD_NOMEM : HD_DEVICE,
                   "cuda: %s: status %d; HEDDLE_CUDA_LIBRARIES=none leaves cuBLASLt out", call,
                   status);
}
#define LT(ctx, call, args)                                                                        \
    do {                                                                                           \
        int status_ = lt.call args;                                                                \
        if (status_) return failed((ctx), #call, status_);                                         \
    } while (0)

hd_status hd_blas_open(hd_ctx *ctx, struct hd_blas **out) {
    struct hd_blas *b = calloc(1, sizeof *b);
    if (!b) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for cuBLASLt");
    int status = lt.cublasLtCreate(&b->handle);
    if (status) {
        free(b);
        return failed(ctx, "cublasLtCreate", status);
    }
    *out = b;
    return HD_OK;
}

void hd_blas_close(struct hd_blas *b) {
    if (!b) return;
    lt.cublasLtDestroy(b->handle);
    free(b);
}

/* ---- a product ------------------------------------------------------------------------------ */

void hd_blas_drop(struct hd_blas_call *c) {
    for (int i = 0; i < 3; i++)
        if (c->layout[i]) lt.cublasLtMatrixLayoutDestroy(c->layout[i]);
    if (c->desc) lt.cublasLtMatmulDescDestroy(c->desc);
    free(c);
}

/* Of a matrix that has `columns` elements in a row of ours, which is a column there. */
static hd_status layout(hd_ctx *ctx, int64_t rows, int64_t columns, int64_t batches, int64_t stride,
                        void **out) {
    int32_t count = (int32_t)batches;
    LT(ctx, cublasLtMatrixLayoutCreate, (out, R_32F, (uint64_t)columns, (uint64_t)rows, columns));
    if (batches == 1) return HD_OK;
    LT(ctx, cublasLtMatrixLayoutSetAttribute, (*out, LAYOUT_BATCH_COUNT, &count, sizeof count));
    LT(ctx, cublasLtMatrixLayoutSetAttribute, (*out, LAYOUT_BATCH_OFFSET, &stride, sizeof stride));
    return HD_OK;
}

static hd_status describe(hd_ctx *ctx, const struct hd_gpu_product *p, struct hd_blas_call *c) {
    static const int compute[HD_PRECISIONS] = {/* CUBLAS_COMPUTE_32F, _FAST_TF32, _FAST_16F */
                                               [HD_PRECISION_f32] = 68,
                                               [HD_PRECISION_tf32] = 77,
                                               [HD_PRECISION_fp16] = 74};
    int32_t op = OP_T;
    uint32_t epilogue = (p->relu ? EPILOGUE_RELU : 0) | (p->bias ? EPILOGUE_BIAS : 0);
    LT(ctx, cublasLtMatmulDescCreate, (&c->desc, compute[p->precision], R_32F));
    if (p->transposed_b)
        LT(ctx, cublasLtMatmulDescSetAttribute, (c->desc, DESC_TRANSA, &op, sizeof op));
    if (p->transposed_a)
        LT(ctx, cublasLtMatmulDescSetAttribute, (c->desc, DESC_TRANSB, &op, sizeof op));
    if (epilogue)
        LT(ctx, cublasLtMatmulDescSetAttribute,
           (c->desc, DESC_EPILOGUE, &epilogue, sizeof epilogue));
    bool a = p->transposed_a, b = p->transposed_b;
    TRY(layout(ctx, b ? p->columns : p->depth, b ? p->depth : p->columns, p->batches, p->stride_b,
               &c->layout[0]));
    TRY(layout(ctx, a ? p->depth : p->rows, a ? p->rows : p->depth, p->batches, p->stride_a,
               &c->layout[1]));
    return layout(ctx, p->rows, p->columns, p->batches, p->rows * p->columns, &c->layout[2]);
}

static hd_status choose(hd_ctx *ctx, struct hd_blas *b, void *preference, struct hd_blas_call *c) {
    uint64_t most = WORKSPACE_BYTES;
    int n = 0;
    LT(ctx, cublasLtMatmulPreferenceSetAttribute,
       (preference, PREFERENCE_WORKSPACE_BYTES, &most, sizeof most));
    LT(ctx, cublasLtMatmulAlgoGetHeuristic,
       (b->handle, c->desc, c->layout[0], c->layout[1], c->layout[2], c->layout[2], preference, 1,
        &c->algorithm, &n));
    if (n < 1 || c->algorithm.status)
        return hd_fail(ctx, HD_UNSUPPORTED, "cuda: cuBLASLt has no algorithm for these sizes");
    return HD_OK;
}

static hd_status make(hd_ctx *ctx, struct hd_blas *b, const struct hd_gpu_product *p,
                      struct hd_blas_call *c) {
    void *preference = NULL;
    TRY(describe(ctx, p, c));
    LT(ctx, cublasLtMatmulPreferenceCreate, (&preference));
    hd_status s = choose(ctx, b, preference, c);
    lt.cublasLtMatmulPreferenceDestroy(preference);
    return s;
}

hd_status hd_blas_make(hd_ctx *ctx, struct hd_blas *b, const struct hd_gpu_product *p,
                       size_t *out_workspace_bytes, struct hd_blas_call **out) {
    struct hd_blas_call *c = calloc(1, sizeof *c);
    if (!c) return hd_fail(ctx, HD_NOMEM, "cuda: no memory for a product");
    c->bias = p->bias;
    hd_status s = make(ctx, b, p, c);
    if (s != HD_OK) {
        hd_blas_drop(c);
        return s;
    }
    *out_workspace_bytes = c->algorithm.workspace_bytes;
    *out = c;
    return HD_OK;
}

hd_status hd_blas_run(hd_ctx *ctx, struct hd_blas *b, struct hd_blas_call *c, const uint64_t *at,
                      void *stream) {
    const float alpha = 1, beta = 0;
    void *y = (void *)(uintptr_t)at[2];
    uint64_t workspace = c->algorithm.workspace_bytes ? at[c->bias ? 4 : 3] : 0;
    if (c->bias)
        LT(ctx, cublasLtMatmulDescSetAttribute, (c->desc, DESC_BIAS_POINTER, &at[3], sizeof at[3]));
    LT(ctx, cublasLtMatmul,
       (b->handle, c->desc, &alpha, (const void *)(uintptr_t)at[1], c->layout[0],
        (const void *)(uintptr_t)at[0], c->layout[1], &beta, y, c->layout[2], y, c->layout[2],
        &c->algorithm, (void *)(uintptr_t)workspace, c->algorithm.workspace_bytes, stream));
    return HD_OK;
}
