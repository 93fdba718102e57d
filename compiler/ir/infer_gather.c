/* Types and shapes of data movement by index, of einsum, determinants and losses. */
#include <string.h>

#include "compiler/ir/einsum.h"
#include "compiler/ir/infer_int.h"

static hd_status want_index(struct infer *c, int i) {
    return hd_infer_want_types(c, i, 1u << HD_I32 | 1u << HD_I64);
}

static hd_status shape(struct infer *c, hd_dtype t, int rank, const int64_t *dim) {
    if (rank > HD_MAX_RANK) return BAD(c, "the result has rank %d, at most %d", rank, HD_MAX_RANK);
    hd_infer_set(c, 0, t, rank, dim);
    return HD_OK;
}

/* Appends dims [from, to) of t. */
static int append(int64_t *dim, int rank, const struct hd_tensor *t, int64_t from, int64_t to) {
    for (int64_t d = from; d < to; d++) dim[rank++] = t->dim[d];
    return rank;
}

hd_status hd_infer_gather(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1);
    int64_t axis = 0, dim[2 * HD_MAX_RANK];
    TRY(want_index(c, 1));
    TRY(hd_infer_axis(c, "axis", 0, x->rank, &axis));
    int rank = append(dim, 0, x, 0, axis);
    rank = append(dim, rank, t, 0, t->rank);
    return shape(c, x->dtype, append(dim, rank, x, axis + 1, x->rank), dim);
}

/* Every dimension of operand i but `axis` is at most that of operand 0. */
static hd_status inside(struct infer *c, int i, int64_t axis) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, i);
    TRY(hd_infer_want_rank(c, i, x->rank));
    for (int d = 0; d < x->rank; d++)
        if (d != axis && t->dim[d] > x->dim[d])
            return BAD(c, "dimension %d of '%s' is %lld, that of '%s' %lld, want at most that", d,
                       t->name, (long long)t->dim[d], x->name, (long long)x->dim[d]);
    return HD_OK;
}

hd_status hd_infer_gatherelements(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1);
    int64_t axis = 0;
    TRY(want_index(c, 1));
    TRY(hd_infer_axis(c, "axis", 0, x->rank, &axis));
    TRY(inside(c, 1, axis));
    return shape(c, x->dtype, t->rank, t->dim);
}

/* The tuples of operand 1: their width, at most what x has behind `batch` dimensions. */
static hd_status tuples(struct infer *c, int64_t batch, int64_t *out) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1);
    TRY(hd_infer_want_type(c, 1, HD_I64));
    if (x->rank < 1 || t->rank < 1 || batch < 0 || batch >= t->rank || batch >= x->rank)
        return BAD(c, "batch_dims %lld, operand ranks %d and %d", (long long)batch, x->rank,
                   t->rank);
    *out = t->dim[t->rank - 1];
    if (*out < 1 || *out > x->rank - batch)
        return BAD(c, "tuples of '%s' have %lld indexes, allowed 1..%lld", t->name, (long long)*out,
                   (long long)(x->rank - batch));
    for (int64_t d = 0; d < batch; d++)
        if (x->dim[d] != t->dim[d])
            return BAD(c, "batch dimension %lld is %lld and %lld, want equal", (long long)d,
                       (long long)x->dim[d], (long long)t->dim[d]);
    return HD_OK;
}

hd_status hd_infer_gathernd(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1);
    int64_t batch = hd_attr_int(c->n, "batch_dims", 0), width = 0, dim[2 * HD_MAX_RANK];
    TRY(tuples(c, batch, &width));
    int rank = append(dim, 0, t, 0, t->rank - 1);
    return shape(c, x->dtype, append(dim, rank, x, batch + width, x->rank), dim);
}

static hd_status scatter(struct infer *c) {
    static const char *const allowed[] = {"none", "add", "mul", "max", "min"};
    const struct hd_tensor *x = in(c, 0);
    const char *op = hd_attr_string(c->n, "reduction", allowed[0]);
    int i = 0;
    while (i < 5 && strcmp(op, allowed[i])) i++;
    if (i == 5) return BAD(c, "reduction '%s', allowed none, add, mul, max, min", op);
    if (i) TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_want_type(c, 2, x->dtype));
    hd_infer_like(c, 0, x);
    return HD_OK;
}

hd_status hd_infer_scatterelements(struct infer *c) {
    const struct hd_tensor *t = in(c, 1), *u = in(c, 2);
    int64_t axis = 0;
    TRY(want_index(c, 1));
    TRY(hd_infer_axis(c, "axis", 0, in(c, 0)->rank, &axis));
    TRY(inside(c, 1, axis));
    TRY(hd_infer_want_rank(c, 2, t->rank));
    if (memcmp(t->dim, u->dim, (size_t)t->rank * sizeof *t->dim))
        return BAD(c, "'%s' and '%s' have different shapes", t->name, u->name);
    return scatter(c);
}

hd_status hd_infer_scatternd(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1), *u = in(c, 2);
    int64_t width = 0, dim[2 * HD_MAX_RANK];
    TRY(tuples(c, 0, &width));
    int rank = append(dim, 0, t, 0, t->rank - 1);
    rank = append(dim, rank, x, width, x->rank);
    if (u->rank != rank || memcmp(u->dim, dim, (size_t)rank * sizeof *dim))
        return BAD(c, "the shape of the updates '%s' is not that of the slices that '%s' names",
                   u->name, t->name);
    return scatter(c);
}

hd_status hd_infer_tensorscatter(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *u = in(c, 1);
    const char *mode = hd_attr_string(c->n, "mode", "linear");
    int64_t axis = 0;
    if (strcmp(mode, "linear") && strcmp(mode, "circular"))
        return BAD(c, "mode '%s', allowed linear and circular", mode);
    TRY(hd_infer_want_type(c, 1, x->dtype));
    TRY(hd_infer_want_rank(c, 1, x->rank));
    TRY(hd_infer_axis(c, "axis", -2, x->rank, &axis));
    if (axis == 0) return BAD(c, "%s", "axis 0 is that of the batch, want another");
    TRY(hd_infer_want_types(c, 2, 1u << HD_I64 | 1u << HD_I32));
    TRY(hd_infer_want_vector(c, 2, x->dim[0]));
    for (int d = 0; d < x->rank; d++)
        if (d == axis ? u->dim[d] > x->dim[d] : u->dim[d] != x->dim[d])
            return BAD(c, "dimension %d of the update '%s' is %lld, of '%s' %lld", d, u->name,
                       (long long)u->dim[d], x->name, (long long)x->dim[d]);
    hd_infer_like(c, 0, x);
    return HD_OK;
}

hd_status hd_infer_onehot(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *v = in(c, 2);
    int64_t axis = 0, depth = 0, dim[HD_MAX_RANK + 1];
    int n = 0;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    TRY(hd_infer_want_vector(c, 2, 2));
    TRY(hd_infer_axis(c, "axis", -1, x->rank + 1, &axis));
    TRY(hd_infer_int_list(c, 1, &depth, 1, &n));
    if (n < 0) return hd_infer_later(c);
    if (n == 0 || depth < 1) return BAD(c, "depth is %lld, want at least 1", (long long)depth);
    int rank = append(dim, 0, x, 0, axis);
    dim[rank++] = depth;
    return shape(c, v->dtype, append(dim, rank, x, axis, x->rank), dim);
}

/* Only the kernel knows how many there are. */
hd_status hd_infer_nonzero(struct infer *c) {
    return hd_infer_later(c);
}

hd_status hd_infer_compress(struct infer *c) {
    int64_t axis = 0;
    TRY(hd_infer_want_type(c, 1, HD_BOOL));
    TRY(hd_infer_want_rank(c, 1, 1));
    if (hd_attr_get(c->n, "axis")) TRY(hd_infer_axis(c, "axis", 0, in(c, 0)->rank, &axis));
    return hd_infer_later(c);
}

hd_status hd_infer_einsum(struct infer *c) {
    const struct hd_tensor *x[HD_EINSUM_OPERANDS];
    struct hd_einsum e;
    TRY(hd_infer_want_types(c, 0, HD_T_NUMBER));
    for (int i = 0; i < c->n->n_in; i++) {
        x[i] = in(c, i);
        if (!x[i]) return BAD(c, "input %d is left out, but required", i);
        TRY(hd_infer_want_type(c, i, x[0]->dtype));
    }
    TRY(hd_note(c->ctx,
                hd_einsum_parse(c->ctx, hd_attr_string(c->n, "equation", ""), c->n->n_in, x, &e),
                "in node '%s' (einsum)", c->n->name));
    return shape(c, x[0]->dtype, e.n_out, e.size);
}

hd_status hd_infer_det(struct infer *c) {
    const struct hd_tensor *x = in(c, 0);
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    if (x->rank < 2 || x->dim[x->rank - 1] != x->dim[x->rank - 2])
        return BAD(c, "operand '%s' is not made of square matrices", x->name);
    return shape(c, x->dtype, x->rank - 2, x->dim);
}

hd_status hd_infer_nllloss(struct infer *c) {
    const struct hd_tensor *x = in(c, 0), *t = in(c, 1);
    const char *how = hd_attr_string(c->n, "reduction", "mean");
    bool none = !strcmp(how, "none");
    if (!none && strcmp(how, "mean") && strcmp(how, "sum"))
        return BAD(c, "reduction '%s', allowed none, mean, sum", how);
    TRY(hd_infer_want_types(c, 0, HD_T_FLOAT));
    TRY(want_index(c, 1));
    TRY(hd_infer_want_type(c, 2, x->dtype));
    if (x->rank < 2) return BAD(c, "operand '%s' has rank %d, want at least 2", x->name, x->rank);
    TRY(hd_infer_want_rank(c, 1, x->rank - 1));
    TRY(hd_infer_want_vector(c, 2, x->dim[1]));
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != x->dim[d ? d + 1 : 0])
            return BAD(c, "dimension %d of the target '%s' is %lld, want %lld", d, t->name,
                       (long long)t->dim[d], (long long)x->dim[d ? d + 1 : 0]);
    return shape(c, x->dtype, none ? t->rank : 0, t->dim);
}
