/* cuBLASLt on a computer without it, for tests: takes note of what is made and given back, refuses
 * what it would refuse, fails where it is told to, and computes when the stream's work runs.
 * hd_blas_why_not finds these symbols in the program. Behind cuda_stand_in.h. */
#ifndef HD_TEST_GPU_CUBLASLT_STAND_IN_H
#define HD_TEST_GPU_CUBLASLT_STAND_IN_H

#include "test/gpu/cuda_stand_in.h"

struct lt_thing { /* a description of a product (epilogue, ..), or of a matrix */
    int transposed[2], batches;
    uint32_t epilogue;
    uint64_t bias, rows, columns;
    int64_t leading, stride;
};
static struct {
    int compute; /* type of the last product */
    int live, products, calls,
        fail_at; /* things not given back; calls so far; the one that fails */
} lt_seen;

#define LT_CALL()                                                                                  \
    do {                                                                                           \
        if (++lt_seen.calls == lt_seen.fail_at) return 7;                                          \
        emu_needs_context();                                                                       \
    } while (0)

static int lt_new(void **out) {
    *out = calloc(1, sizeof(struct lt_thing));
    lt_seen.live++;
    return 0;
}
static int lt_old(void *thing) {
    free(thing);
    lt_seen.live--;
    return 0;
}
int cublasLtCreate(void **out);
int cublasLtCreate(void **out) {
    LT_CALL();
    return lt_new(out);
}
int cublasLtDestroy(void *handle);
int cublasLtDestroy(void *handle) {
    lt_old(handle);
    if (lt_seen.live) emu_wrong("something of cuBLASLt outlives its handle");
    return 0;
}
int cublasLtMatmulDescCreate(void **out, int compute, int scale_type);
int cublasLtMatmulDescCreate(void **out, int compute, int scale_type) {
    LT_CALL();
    if ((compute != 68 && compute != 74 && compute != 77) || scale_type)
        emu_wrong("a product whose sums are not in f32");
    lt_seen.compute = compute;
    return lt_new(out);
}
int cublasLtMatmulDescSetAttribute(void *desc, int attr, const void *v, size_t bytes);
int cublasLtMatmulDescSetAttribute(void *desc, int attr, const void *v, size_t bytes) {
    LT_CALL();
    struct lt_thing *d = desc;
    if (bytes != (attr == 8 ? 8 : 4)) return 7;
    if (attr == 3 || attr == 4) memcpy(&d->transposed[attr - 3], v, 4);
    if (attr == 7) memcpy(&d->epilogue, v, 4);
    if (attr == 8) memcpy(&d->bias, v, 8);
    return attr == 3 || attr == 4 || attr == 7 || attr == 8 ? 0 : 7;
}
int cublasLtMatmulDescDestroy(void *desc);
int cublasLtMatmulDescDestroy(void *desc) {
    return lt_old(desc);
}
int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t ld);
int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    LT_CALL();
    if (type || ld < (int64_t)rows) emu_wrong("a matrix that is none");
    lt_new(out);
    *(struct lt_thing *)*out =
        (struct lt_thing){.rows = rows, .columns = columns, .leading = ld, .batches = 1};
    return 0;
}
int cublasLtMatrixLayoutSetAttribute(void *layout, int attr, const void *v, size_t bytes);
int cublasLtMatrixLayoutSetAttribute(void *layout, int attr, const void *v, size_t bytes) {
    LT_CALL();
    struct lt_thing *m = layout;
    if ((attr != 5 || bytes != 4) && (attr != 6 || bytes != 8)) return 7;
    memcpy(attr == 5 ? (void *)&m->batches : (void *)&m->stride, v, bytes);
    return 0;
}
int cublasLtMatrixLayoutDestroy(void *layout);
int cublasLtMatrixLayoutDestroy(void *layout) {
    return lt_old(layout);
}
int cublasLtMatmulPreferenceCreate(void **out);
int cublasLtMatmulPreferenceCreate(void **out) {
    LT_CALL();
    return lt_new(out);
}
int cublasLtMatmulPreferenceSetAttribute(void *pref, int attr, const void *v, size_t bytes);
int cublasLtMatmulPreferenceSetAttribute(void *pref, int attr, const void *v, size_t bytes) {
    LT_CALL();
    return !pref || !v || attr != 1 || bytes != 8 ? 7 : 0;
}
int cublasLtMatmulPreferenceDestroy(void *pref);
int cublasLtMatmulPreferenceDestroy(void *pref) {
    return lt_old(pref);
}
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c, void *d,
                                   void *pref, int n, void *out, int *out_n);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c, void *d,
                                   void *pref, int n, void *out, int *out_n) {
    LT_CALL();
    if (!handle || !desc || !a || !b || c != d || !pref || n != 1) return 7;
    memset(out, 0, 96);
    memcpy((char *)out + 64, &(size_t){4096}, 8); /* the workspace that it wants */
    *out_n = 1;
    return 0;
}

/* 11 bits of a number where operands are tf32 or fp16, halves away from 0. */
static float lt_rounded(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (lt_seen.compute != 68) bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static float lt_at(const float *x, const struct lt_thing *m, int transposed, uint64_t i, uint64_t j,
                   int batch) {
    uint64_t row = transposed ? j : i, column = transposed ? i : j;
    if (row >= m->rows || column >= m->columns) emu_wrong("matrices whose sizes do not meet");
    return lt_rounded(x[batch * m->stride + (int64_t)row + (int64_t)column * m->leading]);
}
static struct lt_work {
    struct lt_thing p, a, b, y;
    const float *x, *z;
    float *out;
} lt_works[64];
static void lt_compute(void *what) {
    const struct lt_work *w = what;
    uint64_t depth = w->p.transposed[0] ? w->a.rows : w->a.columns;
    for (int batch = 0; batch < w->y.batches; batch++)
        for (uint64_t j = 0; j < w->y.columns; j++)
            for (uint64_t i = 0; i < w->y.rows; i++) {
                double sum = w->p.epilogue & 4 ? (double)((float *)(uintptr_t)w->p.bias)[i] : 0;
                for (uint64_t k = 0; k < depth; k++)
                    sum += (double)lt_at(w->x, &w->a, w->p.transposed[0], i, k, batch) *
                           (double)lt_at(w->z, &w->b, w->p.transposed[1], k, j, batch);
                if (w->p.epilogue & 2 && sum < 0) sum = 0;
                w->out[batch * w->y.stride + (int64_t)i + (int64_t)j * w->y.leading] = (float)sum;
            }
}
int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *a_layout,
                   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                   void *d, void *d_layout, const void *algorithm, void *workspace,
                   size_t workspace_bytes, void *stream);
int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *a_layout,
                   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                   void *d, void *d_layout, const void *algorithm, void *workspace,
                   size_t workspace_bytes, void *stream) {
    LT_CALL();
    const struct lt_thing *p = desc, *ma = a_layout, *mb = b_layout, *y = d_layout;
    if (!handle || !algorithm || !stream || c != d || c_layout != d_layout) return 7;
    if (*(const float *)alpha != 1 || *(const float *)beta != 0) return 7;
    if (workspace_bytes != 4096 || !emu_inside((uint64_t)(uintptr_t)workspace, 4096))
        emu_wrong("a workspace that is not there");
    if (!emu_inside((uint64_t)(uintptr_t)d, 4 * y->rows * y->columns * (size_t)y->batches))
        emu_wrong("a result outside memory");
    struct lt_work *w = &lt_works[lt_seen.products++ % 64];
    *w = (struct lt_work){*p, *ma, *mb, *y, a, b, d};
    return emu_enqueue(&(struct emu_op){.later = lt_compute, .what = w});
}

#endif
