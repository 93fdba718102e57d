/* One kernel per operation: k_<op>. Plain loops, no intrinsics; float sums in double. */
#ifndef HD_CPU_REF_KERNELS_H
#define HD_CPU_REF_KERNELS_H

#include "compiler/ir/ir.h"
#include "compiler/ir/window.h"

enum { HD_KERNEL_OPERANDS = 1024 };

struct hd_kernel { /* one call: shapes and types have been verified */
    hd_ctx *ctx;
    const hd_graph *g;
    const struct hd_node *n;
    hd_arena *arena; /* for scratch */
    const void **in; /* data of each operand, NULL = left out */
    void *out;       /* room for the result */
};

/* Shape of operand i, or of the result. */
static inline const struct hd_tensor *hd_k_in(const struct hd_kernel *k, int i) {
    return &k->g->tensors[k->n->in[i]];
}
static inline const struct hd_tensor *hd_k_out(const struct hd_kernel *k) {
    return &k->g->tensors[k->n->out[0]];
}

#define OP(name, ...) hd_status k_##name(const struct hd_kernel *k);
#include "compiler/ir/ops.def"

#endif
