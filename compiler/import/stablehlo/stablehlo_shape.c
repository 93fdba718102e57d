/* StableHLO operations that move values by position. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

/* Moves work on what is stored: scales go with it, those of an axis are not moved. */
static hd_status stored(struct hd_shlo *m, size_t i, int *out, struct hd_shlo_type *type) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, i, &v));
    if (v.type.complex) return hd_shlo_bad(m, HD_UNSUPPORTED, "complex operand %zu", i);
    *out = v.tensor;
    *type = v.type;
    if (v.type.n_scales > 1) {
        TRY(hd_shlo_dequantize(m, &v.type, v.tensor, out));
        type->quantised = false;
    }
    return HD_OK;
}

static hd_status moved(struct hd_shlo *m, int x, const struct hd_shlo_type *type) {
    return type->quantised ? hd_shlo_out_stored(m, 0, x, type) : hd_shlo_out(m, 0, x);
}

/* Dimensions of the result: from its type, or from constant operand i. */
static hd_status result_dims(struct hd_shlo *m, size_t i, int64_t *dim, int *rank) {
    struct hd_shlo_type t;
    bool open = false;
    TRY(hd_shlo_result_type(m, 0, &t));
    *rank = t.rank;
    memcpy(dim, t.dim, sizeof t.dim);
    for (int d = 0; d < t.rank; d++) open = open || t.dim[d] < 0;
    return open ? hd_shlo_known_ints(m, i, dim, HD_MAX_RANK, rank) : HD_OK;
}

hd_status hd_shlo_op_reshape(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t dim[HD_MAX_RANK];
    int x, rank;
    TRY(stored(m, 0, &x, &type));
    TRY(result_dims(m, 1, dim, &rank));
    TRY(hd_shlo_reshape(m, x, rank, dim, &x));
    return moved(m, x, &type);
}

hd_status hd_shlo_op_transpose(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t perm[HD_MAX_RANK];
    int x;
    TRY(stored(m, 0, &x, &type));
    int rank = hd_shlo_shape(m, x).rank;
    TRY(hd_shlo_list(m, hd_mlir_attr(m->op, "dims") ? "dims" : "permutation", rank, 0, perm));
    for (int i = 0; i < rank; i++)
        if (perm[i] < 0 || perm[i] >= rank) return hd_shlo_bad(m, HD_INVALID, "its permutation");
    TRY(hd_shlo_transpose(m, x, rank, perm, &x));
    return moved(m, x, &type);
}

static hd_status expanded(struct hd_shlo *m, int x, int rank, const int64_t *dim, int *out) {
    *out = x;
    return rank ? hd_shlo_emit(m, HD_IR_expand, 2, (int[]){x, hd_shlo_ints(m, rank, dim)}, out)
                : HD_OK;
}

hd_status hd_shlo_op_broadcast_in_dim(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t dim[HD_MAX_RANK], to[HD_MAX_RANK], one[HD_MAX_RANK];
    int x, rank;
    TRY(stored(m, 0, &x, &type));
    const struct hd_tensor t = hd_shlo_shape(m, x);
    TRY(result_dims(m, 1, dim, &rank));
    TRY(hd_shlo_list(m, hd_mlir_attr(m->op, "dims") ? "dims" : "broadcast_dimensions", t.rank, 0,
                     to));
    for (int i = 0; i < rank; i++) one[i] = 1;
    for (int i = 0; i < t.rank; i++) {
        if (to[i] < 0 || to[i] >= rank) return hd_shlo_bad(m, HD_INVALID, "its dimensions");
        one[to[i]] = t.dim[i];
    }
    TRY(hd_shlo_reshape(m, x, rank, one, &x));
    TRY(expanded(m, x, rank, dim, &x));
    return moved(m, x, &type);
}

hd_status hd_shlo_op_broadcast(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t dim[HD_MAX_RANK];
    int x, rank;
    TRY(stored(m, 0, &x, &type));
    TRY(result_dims(m, 1, dim, &rank));
    TRY(expanded(m, x, rank, dim, &x));
    return moved(m, x, &type);
}

hd_status hd_shlo_op_concatenate(struct hd_shlo *m) {
    size_t n = m->op->n_operands;
    int *in = hd_new_array(m->arena, int, n + 1), y;
    for (size_t i = 0; i < n; i++) TRY(hd_shlo_in(m, i, &in[i]));
    if (n < 1 || n > HD_MAX_OPERANDS) return hd_shlo_bad(m, HD_INVALID, "%zu operands", n);
    int id = hd_shlo_node(m, HD_IR_concat, (int)n, in, &y);
    hd_attr_set_int(m->g, id, "axis", hd_shlo_int(m, "dim", hd_shlo_int(m, "dimension", 0)));
    TRY(hd_shlo_done(m, id));
    return hd_shlo_out(m, 0, y);
}

/* Ranges "[0:3, 1:4:2]" or lists of begins, ends and steps. */
hd_status hd_shlo_op_slice(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t from[HD_MAX_RANK], to[HD_MAX_RANK], step[HD_MAX_RANK];
    const char *p = hd_mlir_attr(m->op, "[]");
    int x;
    TRY(stored(m, 0, &x, &type));
    int rank = hd_shlo_shape(m, x).rank;
    if (!p) {
        TRY(hd_shlo_list(m, "start_indices", rank, 0, from));
        TRY(hd_shlo_list(m, "limit_indices", rank, 0, to));
        TRY(hd_shlo_list(m, "strides", rank, 1, step));
    }
    for (int i = 0; p && i < rank; i++) {
        long a, b, s = 1;
        int n = 0, more = 0;
        p += strspn(p, "[, ");
        if (sscanf(p, "%ld:%ld%n", &a, &b, &n) < 2) return hd_shlo_bad(m, HD_INVALID, "its ranges");
        if (p[n] == ':' && sscanf(p + n, ":%ld%n", &s, &more) == 1) n += more;
        p += n;
        from[i] = a, to[i] = b, step[i] = s;
    }
    TRY(hd_shlo_slice(m, x, rank, from, to, step, &x));
    return moved(m, x, &type);
}

hd_status hd_shlo_op_real_dynamic_slice(struct hd_shlo *m) {
    int64_t v[3][HD_MAX_RANK];
    struct hd_shlo_type type;
    int x, n;
    TRY(stored(m, 0, &x, &type));
    for (size_t i = 0; i < 3; i++) TRY(hd_shlo_known_ints(m, i + 1, v[i], HD_MAX_RANK, &n));
    if (n != hd_shlo_shape(m, x).rank) return hd_shlo_bad(m, HD_INVALID, "%d indexes", n);
    TRY(hd_shlo_slice(m, x, n, v[0], v[1], v[2], &x));
    return moved(m, x, &type);
}

/* Operands from `first` on: where a window of `size` begins, moved inside x. As one list i64. */
static hd_status starts(struct hd_shlo *m, size_t first, const struct hd_tensor *x,
                        const int64_t *size, int *out) {
    int list[HD_MAX_RANK], in;
    for (int i = 0; i < x->rank; i++) {
        int64_t zero = 0, last = x->dim[i] - size[i];
        if (last < 0) return hd_shlo_bad(m, HD_INVALID, "a window larger than its operand");
        TRY(hd_shlo_in(m, first + (size_t)i, &in));
        TRY(hd_shlo_cast(m, in, HD_I64, &in));
        TRY(hd_shlo_binary(m, HD_IR_max, in, hd_graph_const(m->g, "c", HD_I64, 0, NULL, &zero),
                           &in));
        TRY(hd_shlo_binary(m, HD_IR_min, in, hd_graph_const(m->g, "c", HD_I64, 0, NULL, &last),
                           &in));
        TRY(hd_shlo_reshape(m, in, 1, (int64_t[]){1}, &list[i]));
    }
    int id = hd_shlo_node(m, HD_IR_concat, x->rank, list, out);
    hd_attr_set_int(m->g, id, "axis", 0);
    return hd_shlo_done(m, id);
}

/* Places [size.., rank] of a window at the origin, as constants. */
static hd_status window_places(struct hd_shlo *m, int rank, const int64_t *size, int *out) {
    int64_t n = 1, dim[HD_MAX_RANK + 1];
    if (rank == HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", rank);
    for (int i = 0; i < rank; i++) n *= size[i], dim[i] = size[i];
    dim[rank] = rank;
    int64_t *v = hd_new_array(m->arena, int64_t, (size_t)(n * rank) + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = rank - 1, rest = i; d >= 0; d--) {
            v[i * rank + d] = rest % size[d];
            rest /= size[d];
        }
    *out = hd_graph_const(m->g, "places", HD_I64, rank + 1, dim, v);
    return HD_OK;
}

hd_status hd_shlo_op_dynamic_slice(struct hd_shlo *m) {
    int64_t size[HD_MAX_RANK];
    int x, at, places;
    TRY(hd_shlo_in(m, 0, &x));
    const struct hd_tensor t = hd_shlo_shape(m, x);
    TRY(hd_shlo_list(m, hd_mlir_attr(m->op, "sizes") ? "sizes" : "slice_sizes", t.rank, 0, size));
    if (!t.rank) return hd_shlo_out(m, 0, x);
    for (int i = 0; i < t.rank; i++)
        if (size[i] < 0 || size[i] > t.dim[i]) return hd_shlo_bad(m, HD_INVALID, "its sizes");
    TRY(starts(m, 1, &t, size, &at));
    TRY(window_places(m, t.rank, size, &places));
    TRY(hd_shlo_binary(m, HD_IR_add, places, at, &places));
    TRY(hd_shlo_emit(m, HD_IR_gathernd, 2, (int[]){x, places}, &x));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_dynamic_update_slice(struct hd_shlo *m) {
    int x, u, at, places;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_in(m, 1, &u));
    const struct hd_tensor t = hd_shlo_shape(m, x), v = hd_shlo_shape(m, u);
    if (t.rank != v.rank)
        return hd_shlo_bad(m, HD_INVALID, "operands of rank %d and %d", t.rank, v.rank);
    if (!t.rank) return hd_shlo_out(m, 0, u);
    TRY(starts(m, 2, &t, v.dim, &at));
    TRY(window_places(m, t.rank, v.dim, &places));
    TRY(hd_shlo_binary(m, HD_IR_add, places, at, &places));
    TRY(hd_shlo_emit(m, HD_IR_scatternd, 3, (int[]){x, places, u}, &x));
    return hd_shlo_out(m, 0, x);
}

/* Values with `interior` of pad between them: places in a filled tensor. */
static hd_status spread(struct hd_shlo *m, int x, int pad, const int64_t *interior, int *out) {
    struct hd_tensor t = hd_shlo_shape(m, x);
    for (int d = 0; d < t.rank; d++) {
        int64_t n = t.dim[d], step = interior[d] + 1, wide[HD_MAX_RANK];
        if (!interior[d] || n < 2) continue;
        if (t.rank == HD_MAX_RANK) return hd_shlo_bad(m, HD_UNSUPPORTED, "rank %d", t.rank);
        /* [.., n, ..] -> [.., n, 1, ..], pads behind each, [.., n * step, ..], cut off at the end
         */
        for (int i = 0, k = 0; i <= t.rank; i++) wide[i] = i == d + 1 ? 1 : t.dim[k++];
        int64_t pads[2 * HD_MAX_RANK] = {0}, from[HD_MAX_RANK] = {0}, ones[HD_MAX_RANK];
        TRY(hd_shlo_reshape(m, x, t.rank + 1, wide, &x));
        pads[t.rank + 1 + d + 1] = interior[d];
        int in[3] = {x, hd_shlo_ints(m, 2 * (t.rank + 1), pads), pad};
        TRY(hd_shlo_emit(m, HD_IR_pad, 3, in, &x));
        t.dim[d] = n * step;
        TRY(hd_shlo_reshape(m, x, t.rank, t.dim, &x));
        t.dim[d] = (n - 1) * step + 1;
        for (int i = 0; i < t.rank; i++) ones[i] = 1;
        TRY(hd_shlo_slice(m, x, t.rank, from, t.dim, ones, &x));
    }
    *out = x;
    return HD_OK;
}

hd_status hd_shlo_padded(struct hd_shlo *m, int x, int value, const int64_t *low,
                         const int64_t *high, const int64_t *interior, int *out) {
    TRY(spread(m, x, value, interior, &x));
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t pads[2 * HD_MAX_RANK], from[HD_MAX_RANK], to[HD_MAX_RANK], ones[HD_MAX_RANK];
    bool cuts = false, adds = false;
    for (int i = 0; i < t.rank; i++) {
        pads[i] = low[i] > 0 ? low[i] : 0, pads[t.rank + i] = high[i] > 0 ? high[i] : 0;
        from[i] = low[i] < 0 ? -low[i] : 0, ones[i] = 1;
        to[i] = t.dim[i] + pads[i] + pads[t.rank + i] + (high[i] < 0 ? high[i] : 0);
        if (pads[i] > INT32_MAX || pads[t.rank + i] > INT32_MAX)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "pads of more than 2^31");
        adds = adds || pads[i] || pads[t.rank + i];
        cuts = cuts || low[i] < 0 || high[i] < 0;
        if (to[i] < from[i]) to[i] = from[i];
    }
    if (adds)
        TRY(hd_shlo_emit(m, HD_IR_pad, 3, (int[]){x, hd_shlo_ints(m, 2 * t.rank, pads), value},
                         &x));
    if (cuts) TRY(hd_shlo_slice(m, x, t.rank, from, to, ones, &x));
    *out = x;
    return HD_OK;
}

hd_status hd_shlo_op_pad(struct hd_shlo *m) {
    static const char *const name[2][3] = {
        {"low", "high", "interior"}, {"edge_padding_low", "edge_padding_high", "interior_padding"}};
    int64_t v[3][HD_MAX_RANK];
    int x, value, n;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_in(m, 1, &value));
    int rank = hd_shlo_shape(m, x).rank;
    bool given = m->op->n_operands > 2;
    for (int i = 0; i < 3; i++) {
        if (given) TRY(hd_shlo_known_ints(m, (size_t)i + 2, v[i], HD_MAX_RANK, &n));
        if (given && n != rank) return hd_shlo_bad(m, HD_INVALID, "%d pads", n);
        if (!given) TRY(hd_shlo_list(m, name[!hd_mlir_attr(m->op, "low")][i], rank, 0, v[i]));
    }
    for (int i = 0; i < rank; i++)
        if (v[2][i] < 0 || v[2][i] > INT16_MAX) return hd_shlo_bad(m, HD_INVALID, "its interior");
    TRY(hd_shlo_padded(m, x, value, v[0], v[1], v[2], &x));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_reverse(struct hd_shlo *m) {
    struct hd_shlo_type type;
    int64_t axes[HD_MAX_RANK], from[HD_MAX_RANK], to[HD_MAX_RANK], step[HD_MAX_RANK];
    const char *text = hd_mlir_attr(m->op, "dims");
    int x, n = hd_mlir_ints(text ? text : hd_mlir_attr(m->op, "dimensions"), axes, HD_MAX_RANK);
    TRY(stored(m, 0, &x, &type));
    if (n > HD_MAX_RANK) return hd_shlo_bad(m, HD_INVALID, "%d dimensions", n);
    for (int i = 0; i < n; i++) from[i] = -1, to[i] = INT64_MIN / 2, step[i] = -1;
    int in[5] = {x, hd_shlo_ints(m, n, from), hd_shlo_ints(m, n, to), hd_shlo_ints(m, n, axes),
                 hd_shlo_ints(m, n, step)};
    if (n) TRY(hd_shlo_emit(m, HD_IR_slice, 5, in, &x));
    return moved(m, x, &type);
}

hd_status hd_shlo_op_iota(struct hd_shlo *m) {
    struct hd_shlo_type t;
    int64_t dim[HD_MAX_RANK], n = 1, inner = 1,
                              axis = hd_shlo_int(m, "dim", hd_shlo_int(m, "iota_dimension", 0));
    int rank, x;
    TRY(hd_shlo_result_type(m, 0, &t));
    TRY(result_dims(m, 0, dim, &rank));
    if (axis < 0 || axis >= rank) return hd_shlo_bad(m, HD_INVALID, "dim %lld", (long long)axis);
    TRY(hd_shape_check(m->ctx, "an iota", HD_I64, rank, dim));
    for (int i = 0; i < rank; i++) n *= dim[i], inner *= i > axis ? dim[i] : 1;
    int64_t *v = hd_new_array(m->arena, int64_t, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = i / inner % dim[axis];
    x = hd_graph_const(m->g, "iota", HD_I64, rank, dim, v);
    TRY(hd_shlo_cast(m, x, t.dtype, &x));
    return hd_shlo_out(m, 0, x);
}

hd_status hd_shlo_op_dimension_size(struct hd_shlo *m) {
    int64_t axis = hd_shlo_int(m, "dim", hd_shlo_int(m, "dimension", 0));
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    const struct hd_tensor t = hd_shlo_shape(m, x);
    if (axis < 0 || axis >= t.rank) return hd_shlo_bad(m, HD_INVALID, "dim %lld", (long long)axis);
    int32_t size = (int32_t)t.dim[axis];
    return hd_shlo_out(m, 0, hd_graph_const(m->g, "size", HD_I32, 0, NULL, &size));
}
