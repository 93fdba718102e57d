/* Strides of walks; operands and elements as kernels want them. */
#include "cpu_ref/walk.h"

#include <string.h>

void hd_walk_dense(int rank, const int64_t *dim, int64_t *stride) {
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= dim[d];
    }
}

void hd_walk_init(struct hd_walk *w, int rank, const int64_t *dim) {
    *w = (struct hd_walk){.rank = rank};
    memcpy(w->dim, dim, (size_t)rank * sizeof *dim);
}

void hd_walk_strides(struct hd_walk *w, int i, int64_t base, const int64_t *stride) {
    memcpy(w->stride[i], stride, (size_t)w->rank * sizeof *stride);
    w->index[i] = base;
    if (w->n <= i) w->n = i + 1;
}

void hd_walk_broadcast(struct hd_walk *w, int i, const struct hd_tensor *x) {
    int64_t dense[HD_WALK_RANK], stride[HD_MAX_RANK] = {0};
    hd_walk_dense(x->rank, x->dim, dense);
    for (int d = 0; d < x->rank; d++) stride[w->rank - x->rank + d] = x->dim[d] == 1 ? 0 : dense[d];
    hd_walk_strides(w, i, 0, stride);
}

int hd_k_ints(const struct hd_kernel *k, int i, int64_t *out, int max) {
    const struct hd_tensor *t = hd_k_in(k, i);
    int64_t n = t ? hd_tensor_elems(t) : 0;
    HD_ASSERT(n <= max);
    for (int64_t j = 0; j < n; j++) out[j] = hd_k_i64(k->in[i], t->dtype, j);
    return (int)n;
}

int64_t hd_k_axis(const struct hd_kernel *k, const char *name, int64_t def, int rank) {
    int64_t axis = hd_attr_int(k->n, name, def);
    return axis < 0 ? axis + rank : axis;
}

int64_t hd_k_key(const void *p, hd_dtype t, int64_t i) {
    if (t == HD_U64) return (int64_t)((uint64_t)hd_k_i64(p, t, i) ^ UINT64_C(1) << 63);
    if (!hd_k_is_float(t)) return hd_k_i64(p, t, i);
    double v = hd_k_f64(p, t, i) + 0; /* -0 + 0 = 0 */
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (v != v) return INT64_MAX;
    return bits < 0 ? INT64_MIN - bits : bits; /* sign and magnitude -> two's complement */
}
