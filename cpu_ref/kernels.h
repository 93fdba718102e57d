/* One kernel per operation: k_<op>. Plain loops, no intrinsics; float sums in double.
 *
 *   hd_status k_neg(const struct hd_kernel *k) {
 *       const struct hd_tensor *y = hd_k_out(k);
 *       for (int64_t i = 0, n = hd_tensor_elems(y); i < n; i++)
 *           hd_k_put_f64(k->out, y->dtype, i, -hd_k_f64(k->in[0], y->dtype, i));
 *       return HD_OK;
 *   }
 *
 * f16 never reaches a kernel, but those of control flow and bitcast: the runner widens operands to
 * f32, and rounds results once (docs/numerics.md). bool is one byte, 0 or 1. */
#ifndef HD_CPU_REF_KERNELS_H
#define HD_CPU_REF_KERNELS_H

#include "compiler/ir/ir.h"
#include "compiler/ir/window.h"
#include "runtime/base/element.h"

struct hd_kernel { /* one call: shapes and types have been verified */
    hd_ctx *ctx;
    const hd_graph *g;
    const struct hd_node *n;
    hd_arena *arena;   /* for scratch, dropped after the call */
    hd_arena *results; /* hd_k_result's */
    const void **in;   /* data of each operand, NULL = left out */
    void *out;         /* room for result 0: outs[0] */
    void **outs;       /* room for each result; NULL = nobody wants it, or see hd_k_result */
    const struct hd_tensor *const *in_tensor;
    struct hd_tensor *out_tensor;
};

/* Type and shape, as they are in this run, of operand i (NULL = left out) and of the results. */
static inline const struct hd_tensor *hd_k_in(const struct hd_kernel *k, int i) {
    return i < k->n->n_in ? k->in_tensor[i] : NULL;
}
static inline const struct hd_tensor *hd_k_out_n(const struct hd_kernel *k, int i) {
    return i < k->n->n_out ? &k->out_tensor[i] : NULL;
}
static inline const struct hd_tensor *hd_k_out(const struct hd_kernel *k) {
    return &k->out_tensor[0];
}
/* Data of operand i and of result i; NULL when it is left out, at the end too. */
static inline const void *hd_k_in_data(const struct hd_kernel *k, int i) {
    return i < k->n->n_in ? k->in[i] : NULL;
}
static inline void *hd_k_out_data(const struct hd_kernel *k, int i) {
    return i < k->n->n_out ? k->outs[i] : NULL;
}

/* For results whose shape only the kernel knows (infer leaves them unknown): sets type and shape of
 * result i and gives zeroed room for it; *out = NULL when nobody wants it. Errors: a shape beyond
 * the limits. */
hd_status hd_k_result(const struct hd_kernel *k, int i, hd_dtype t, int rank, const int64_t *dim,
                      void **out);

/* Stores q, which is in the range of t: i8, u8, i16 or u16. */
static inline void hd_k_put_q(void *out, hd_dtype t, int64_t i, int32_t q) {
    if (hd_dtype_bytes(t) == 2)
        ((uint16_t *)out)[i] = (uint16_t)q;
    else
        ((uint8_t *)out)[i] = (uint8_t)q;
}

/* Index into operand x for element i of a result of shape y, dims aligned at the end (numpy
 * broadcasting). */
int64_t hd_k_broadcast(int64_t i, const struct hd_tensor *y, const struct hd_tensor *x);
/* Splits index i of a dense tensor into one index per dimension. */
void hd_k_unravel(int64_t i, const struct hd_tensor *t, int64_t *at);

/* Of a resize of mode nearest without crop: which element of dimension d a result's place is,
 * out[d] [0 .. size of y - 1], in the arena. Operands as for hd_resize_get. */
hd_status hd_resize_places(hd_ctx *ctx, hd_arena *a, const struct hd_node *n,
                           const struct hd_tensor *x, const float *scales, int64_t n_scales,
                           const int64_t *sizes, int64_t n_sizes, const int64_t **out);

#define OP(name, ...) hd_status k_##name(const struct hd_kernel *k);
#include "compiler/ir/ops.def"

#endif
