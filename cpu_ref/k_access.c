/* What kernels share: results of unknown shape, indexes. */
#include "cpu_ref/kernels.h"

hd_status hd_k_result(const struct hd_kernel *k, int i, hd_dtype t, int rank, const int64_t *dim,
                      void **out) {
    *out = NULL;
    if (i >= k->n->n_out || k->n->out[i] < 0) return HD_OK;
    struct hd_tensor *y = &k->out_tensor[i];
    TRY(hd_shape_check(k->ctx, k->g->tensors[k->n->out[i]].name, t, rank, dim));
    y->dtype = t;
    y->rank = rank;
    for (int d = 0; d < rank; d++) y->dim[d] = dim[d];
    y->known = true;
    *out = k->outs[i] = hd_alloc(k->results, hd_tensor_bytes(y) + 1);
    return HD_OK;
}

int64_t hd_k_broadcast(int64_t i, const struct hd_tensor *y, const struct hd_tensor *x) {
    int64_t index = 0, step = 1;
    for (int d = 0; d < y->rank; d++) {
        int64_t size = y->dim[y->rank - 1 - d], at = i % size;
        i /= size;
        if (d >= x->rank) continue;
        int64_t mine = x->dim[x->rank - 1 - d];
        index += (mine == 1 ? 0 : at) * step;
        step *= mine;
    }
    return index;
}

void hd_k_unravel(int64_t i, const struct hd_tensor *t, int64_t *at) {
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dim[d];
        i /= t->dim[d];
    }
}
