/* TFLite operations by index, reductions, blocks of images, and shapes as values. */
#include <string.h>

#include "compiler/import/tflite/tflite_fixed.h"
#include "compiler/import/tflite/tflite_move.h"
#include "compiler/import/tflite/tflite_ops.h"

/* ---- by index ---- */

hd_status hd_tfl_tile(struct hd_tfl *m) {
    int64_t n[HD_MAX_RANK];
    bool stored;
    int in[2], k;
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(hd_tfl_int_list(m, 1, n, HD_MAX_RANK, &k));
    in[1] = hd_tfl_ints(m, k, n);
    TRY(hd_tfl_emit(m, HD_IR_tile, 2, in, &in[0]));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

hd_status hd_tfl_broadcast_to(struct hd_tfl *m) {
    int64_t dim[HD_MAX_RANK];
    bool stored;
    int in[2], k;
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(hd_tfl_int_list(m, 1, dim, HD_MAX_RANK, &k));
    in[1] = hd_tfl_ints(m, k, dim);
    TRY(hd_tfl_emit(m, HD_IR_expand, 2, in, &in[0]));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

static hd_status index_operand(struct hd_tfl *m, uint32_t i, int *out) {
    if (!hd_tfl_in(m, i)) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", i);
    TRY(hd_tfl_raw(m, hd_tfl_in(m, i), out));
    return hd_tfl_cast_to(m, *out, HD_I64, out);
}

hd_status hd_tfl_gather(struct hd_tfl *m) {
    int64_t axis = hd_tfl_option(m, 0, 4, 0);
    bool stored;
    int in[2], id;
    if (hd_tfl_option(m, 1, 4, 0)) return hd_tfl_bad(m, HD_UNSUPPORTED, "batch_dims beyond 0");
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(index_operand(m, 1, &in[1]));
    TRY(hd_tfl_axis(m, axis, m->g->tensors[in[0]].rank, &axis));
    id = hd_tfl_node(m, HD_IR_gather, 2, in, &in[0]);
    hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

hd_status hd_tfl_embedding_lookup(struct hd_tfl *m) {
    bool stored;
    int in[2], id;
    TRY(hd_tfl_movable(m, 1, &stored, &in[0]));
    TRY(index_operand(m, 0, &in[1]));
    id = hd_tfl_node(m, HD_IR_gather, 2, in, &in[0]);
    hd_attr_set_int(m->g, id, "axis", 0);
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

hd_status hd_tfl_gather_nd(struct hd_tfl *m) {
    bool stored;
    int in[2];
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(index_operand(m, 1, &in[1]));
    TRY(hd_tfl_emit(m, HD_IR_gathernd, 2, in, &in[0]));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

static hd_status filled(struct hd_tfl *m, int n, const int64_t *dim, hd_dtype type, int *out) {
    double zero = 0;
    int v, wide = hd_tfl_const(m, HD_F64, 0, NULL, &zero);
    TRY(hd_tfl_cast_to(m, wide, type, &v));
    return hd_tfl_emit(m, HD_IR_fill, 2, (int[]){hd_tfl_ints(m, n, dim), v}, out);
}

/* index, updates, shape; where several go to one place, they are added. */
hd_status hd_tfl_scatter_nd(struct hd_tfl *m) {
    int64_t dim[HD_MAX_RANK];
    int in[3], n, id;
    TRY(index_operand(m, 0, &in[1]));
    if (!hd_tfl_in(m, 1)) return hd_tfl_bad(m, HD_INVALID, "operand 1 is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 1), &in[2]));
    TRY(hd_tfl_int_list(m, 2, dim, HD_MAX_RANK, &n));
    TRY(filled(m, n, dim, m->g->tensors[in[2]].dtype, &in[0]));
    id = hd_tfl_node(m, HD_IR_scatternd, 3, in, &in[0]);
    hd_attr_set_string(m->g, id, "reduction", "add");
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, true, in[0]);
}

hd_status hd_tfl_reverse(struct hd_tfl *m) {
    int64_t axes[HD_MAX_RANK], from[HD_MAX_RANK], to[HD_MAX_RANK], step[HD_MAX_RANK];
    bool stored;
    int x, n;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_int_list(m, 1, axes, HD_MAX_RANK, &n));
    for (int i = 0; i < n; i++) from[i] = -1, to[i] = INT64_MIN / 2, step[i] = -1;
    int in[5] = {x, hd_tfl_ints(m, n, from), hd_tfl_ints(m, n, to), hd_tfl_ints(m, n, axes),
                 hd_tfl_ints(m, n, step)};
    TRY(hd_tfl_emit(m, HD_IR_slice, 5, in, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

hd_status hd_tfl_reverse_sequence(struct hd_tfl *m) {
    bool stored;
    int in[2], id;
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(index_operand(m, 1, &in[1]));
    id = hd_tfl_node(m, HD_IR_reversesequence, 2, in, &in[0]);
    hd_attr_set_int(m->g, id, "time_axis", hd_tfl_option(m, 0, 4, 0));
    hd_attr_set_int(m->g, id, "batch_axis", hd_tfl_option(m, 1, 4, 0));
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

/* y = x with `update` from `start` on: all places in x, cut where update lies. */
hd_status hd_tfl_dynamic_update_slice(struct hd_tfl *m) {
    int64_t start[HD_MAX_RANK], n = 1;
    bool stored, same;
    int x, u, k;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_movable(m, 1, &same, &u));
    if (!stored || !same) return hd_tfl_bad(m, HD_UNSUPPORTED, "operands of different scales");
    TRY(hd_tfl_int_list(m, 2, start, HD_MAX_RANK, &k));
    const struct hd_tensor t = m->g->tensors[x], v = m->g->tensors[u];
    if (k != t.rank || v.rank != t.rank) return hd_tfl_bad(m, HD_INVALID, "%d indexes", k);
    for (int i = 0; i < k; i++) {
        int64_t last = t.dim[i] - v.dim[i];
        if (last < 0) return hd_tfl_bad(m, HD_INVALID, "the update is larger than the operand");
        start[i] = start[i] < 0 ? 0 : start[i] > last ? last : start[i];
        n *= v.dim[i];
    }
    int64_t *index = hd_new_array(m->arena, int64_t, (size_t)(n * k) + 1), dim[HD_MAX_RANK + 1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = k - 1, rest = i; d >= 0; d--) {
            index[i * k + d] = start[d] + rest % v.dim[d];
            rest /= v.dim[d];
        }
    if (k == HD_MAX_RANK) return hd_tfl_bad(m, HD_UNSUPPORTED, "rank %d", k);
    memcpy(dim, v.dim, sizeof v.dim);
    dim[k] = k;
    int in[3] = {x, hd_tfl_const(m, HD_I64, k + 1, dim, index), u};
    TRY(hd_tfl_emit(m, HD_IR_scatternd, 3, in, &x));
    return hd_tfl_moved(m, 0, true, x);
}

hd_status hd_tfl_one_hot(struct hd_tfl *m) {
    int in[3], v[2], id;
    TRY(index_operand(m, 0, &in[0]));
    TRY(index_operand(m, 1, &in[1]));
    for (uint32_t i = 0; i < 2; i++) { /* off, on */
        if (!hd_tfl_in(m, 3 - i)) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", 3 - i);
        TRY(hd_tfl_raw(m, hd_tfl_in(m, 3 - i), &v[i]));
        TRY(hd_tfl_reshape(m, v[i], 1, (int64_t[]){1}, &v[i]));
    }
    id = hd_tfl_node(m, HD_IR_concat, 2, v, &in[2]);
    hd_attr_set_int(m->g, id, "axis", 0);
    TRY(hd_tfl_done(m, id));
    id = hd_tfl_node(m, HD_IR_onehot, 3, in, &in[0]);
    hd_attr_set_int(m->g, id, "axis", hd_tfl_option(m, 0, 4, 0));
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, true, in[0]);
}

/* ---- reductions ---- */

static hd_status reduced(struct hd_tfl *m, enum hd_ir_op op, int x, int *out) {
    int64_t axes[HD_MAX_RANK];
    int n, rank = m->g->tensors[x].rank, id;
    TRY(hd_tfl_int_list(m, 1, axes, HD_MAX_RANK, &n));
    for (int i = 0; i < n; i++) TRY(hd_tfl_axis(m, axes[i], rank, &axes[i]));
    *out = x;
    if (!n) return HD_OK;
    id = hd_tfl_node(m, op, 2, (int[]){x, hd_tfl_ints(m, n, axes)}, out);
    hd_attr_set_int(m->g, id, "keepdims", hd_tfl_option(m, 0, 1, 0) != 0);
    return hd_tfl_done(m, id);
}

/* Sums of bytes, which are divided when they are scaled. */
static hd_status fixed_mean(struct hd_tfl *m) {
    int x, sums;
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_cast_to(m, x, HD_I64, &x));
    TRY(reduced(m, HD_IR_reducesum, x, &sums));
    int64_t of = hd_tensor_elems(&m->g->tensors[x]), to = hd_tensor_elems(&m->g->tensors[sums]);
    return to < 1 ? hd_tfl_bad(m, HD_INVALID, "a mean of nothing")
                  : hd_tfl_fixed_mean(m, sums, of / to);
}

hd_status hd_tfl_reduce(struct hd_tfl *m, enum hd_ir_op op) {
    int x;
    struct hd_tfl_tensor *t = hd_tfl_in(m, 0);
    if (!t) return hd_tfl_bad(m, HD_INVALID, "operand 0 is left out");
    if (op == HD_IR_reducemean && t->ir != HD_I16 && hd_tfl_is_fixed(m, t, NULL, 0))
        return fixed_mean(m);
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(reduced(m, op, x, &x));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

hd_status hd_tfl_reduce_truth(struct hd_tfl *m) {
    int x;
    if (!hd_tfl_in(m, 0)) return hd_tfl_bad(m, HD_INVALID, "operand 0 is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_cast_to(m, x, HD_U8, &x));
    TRY(reduced(m, m->op->code == 91 ? HD_IR_reducemax : HD_IR_reducemin, x, &x));
    TRY(hd_tfl_cast_to(m, x, HD_BOOL, &x));
    return hd_tfl_moved(m, 0, true, x);
}

hd_status hd_tfl_arg(struct hd_tfl *m) {
    const struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int64_t axis;
    int x, n, id;
    if (!hd_tfl_in(m, 0) || !y) return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_int_list(m, 1, &axis, 1, &n));
    if (n != 1) return hd_tfl_bad(m, HD_INVALID, "%d axes, want 1", n);
    id = hd_tfl_node(m, m->op->code == 56 ? HD_IR_argmax : HD_IR_argmin, 1, &x, &x);
    hd_attr_set_int(m->g, id, "axis", axis);
    hd_attr_set_int(m->g, id, "keepdims", 0);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_cast_to(m, x, y->ir == HD_I64 ? HD_I64 : HD_I32, &x));
    return hd_tfl_moved(m, 0, true, x);
}

hd_status hd_tfl_topk(struct hd_tfl *m) {
    bool stored;
    int64_t k;
    int x, n, out[2];
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_int_list(m, 1, &k, 1, &n));
    if (n != 1) return hd_tfl_bad(m, HD_INVALID, "%d counts, want 1", n);
    for (int i = 0; i < 2; i++) out[i] = hd_graph_tensor(m->g, m->op->node, HD_F32, 0, NULL);
    int id =
        hd_graph_node(m->g, HD_IR_topk, m->op->node, 2, (int[]){x, hd_tfl_ints(m, 1, &k)}, 2, out);
    TRY(hd_tfl_done(m, id));
    TRY(hd_tfl_moved(m, 0, stored, out[0]));
    TRY(hd_tfl_cast_to(m, out[1], HD_I32, &out[1]));
    return hd_tfl_moved(m, 1, true, out[1]);
}

hd_status hd_tfl_cumsum(struct hd_tfl *m) {
    int64_t axis;
    int x, n, id;
    if (!hd_tfl_in(m, 0)) return hd_tfl_bad(m, HD_INVALID, "operand 0 is left out");
    TRY(hd_tfl_real(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_int_list(m, 1, &axis, 1, &n));
    id = hd_tfl_node(m, HD_IR_cumsum, 2, (int[]){x, hd_tfl_const(m, HD_I64, 0, NULL, &axis)}, &x);
    hd_attr_set_int(m->g, id, "exclusive", hd_tfl_option(m, 0, 1, 0));
    hd_attr_set_int(m->g, id, "reverse", hd_tfl_option(m, 1, 1, 0));
    TRY(hd_tfl_done(m, id));
    return hd_tfl_set_real(m, hd_tfl_out(m, 0), x);
}

/* ---- blocks ---- */

hd_status hd_tfl_depth_space(struct hd_tfl *m) {
    bool stored, to_depth = m->op->code == 26;
    int64_t b = hd_tfl_option(m, 0, 4, 0), rest;
    int x;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    rest = to_depth ? b : b * b;
    if (t.rank != 4 || b < 1 || b > 4096 || (to_depth && (t.dim[1] % b || t.dim[2] % b)) ||
        (!to_depth && t.dim[3] % rest))
        return hd_tfl_bad(m, HD_INVALID, "blocks of %lld do not fit its operand", (long long)b);
    const int64_t n = t.dim[0], h = t.dim[1], w = t.dim[2], c = t.dim[3];
    if (to_depth) {
        TRY(hd_tfl_reshape(m, x, 6, (int64_t[]){n, h / b, b, w / b, b, c}, &x));
        TRY(hd_tfl_transpose(m, x, 6, (int64_t[]){0, 1, 3, 2, 4, 5}, &x));
        TRY(hd_tfl_reshape(m, x, 4, (int64_t[]){n, h / b, w / b, c * b * b}, &x));
    } else {
        TRY(hd_tfl_reshape(m, x, 6, (int64_t[]){n, h, w, b, b, c / rest}, &x));
        TRY(hd_tfl_transpose(m, x, 6, (int64_t[]){0, 1, 3, 2, 4, 5}, &x));
        TRY(hd_tfl_reshape(m, x, 4, (int64_t[]){n, h * b, w * b, c / rest}, &x));
    }
    return hd_tfl_moved(m, 0, stored, x);
}

struct blocks {
    int n;
    int64_t block[HD_MAX_RANK], before[HD_MAX_RANK], after[HD_MAX_RANK];
};

static hd_status get_blocks(struct hd_tfl *m, const struct hd_tensor *t, struct blocks *b) {
    int64_t pair[2 * HD_MAX_RANK];
    int k;
    TRY(hd_tfl_int_list(m, 1, b->block, HD_MAX_RANK, &b->n));
    TRY(hd_tfl_int_list(m, 2, pair, 2 * HD_MAX_RANK, &k));
    if (k != 2 * b->n || b->n >= t->rank || t->rank + b->n > HD_MAX_RANK)
        return hd_tfl_bad(m, HD_INVALID, "%d block sizes and %d pads of rank %d", b->n, k, t->rank);
    for (int i = 0; i < b->n; i++) {
        b->before[i] = pair[2 * i], b->after[i] = pair[2 * i + 1];
        if (b->block[i] < 1 || b->block[i] > INT32_MAX || b->before[i] < 0 || b->after[i] < 0)
            return hd_tfl_bad(m, HD_INVALID, "block %d is %lld", i, (long long)b->block[i]);
    }
    return HD_OK;
}

hd_status hd_tfl_space_to_batch(struct hd_tfl *m) {
    struct blocks b;
    bool stored;
    int x, r = 0;
    int64_t pads[2 * HD_MAX_RANK] = {0}, dim[HD_MAX_RANK], perm[HD_MAX_RANK], batch;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    struct hd_tensor t = m->g->tensors[x];
    TRY(get_blocks(m, &t, &b));
    double zero =
        stored && hd_tfl_quantised(hd_tfl_in(m, 0)) ? (double)hd_tfl_in(m, 0)->zero[0] : 0;
    int value, wide = hd_tfl_const(m, HD_F64, 0, NULL, &zero);
    TRY(hd_tfl_cast_to(m, wide, t.dtype, &value));
    for (int i = 0; i < b.n; i++) pads[1 + i] = b.before[i], pads[t.rank + 1 + i] = b.after[i];
    TRY(hd_tfl_emit(m, HD_IR_pad, 3, (int[]){x, hd_tfl_ints(m, 2 * t.rank, pads), value}, &x));
    t = m->g->tensors[x];
    dim[r++] = batch = t.dim[0];
    for (int i = 0; i < b.n; i++) {
        if (t.dim[1 + i] % b.block[i])
            return hd_tfl_bad(m, HD_INVALID, "%lld is no multiple of block %lld",
                              (long long)t.dim[1 + i], (long long)b.block[i]);
        dim[r++] = t.dim[1 + i] / b.block[i];
        dim[r++] = b.block[i];
        batch *= b.block[i];
    }
    for (int i = 1 + b.n; i < t.rank; i++) dim[r++] = t.dim[i];
    TRY(hd_tfl_reshape(m, x, r, dim, &x));
    int p = 0;
    for (int i = 0; i < b.n; i++) perm[p++] = 2 + 2 * i;
    perm[p++] = 0;
    for (int i = 0; i < b.n; i++) perm[p++] = 1 + 2 * i;
    for (int i = 1 + 2 * b.n; i < r; i++) perm[p++] = i;
    TRY(hd_tfl_transpose(m, x, r, perm, &x));
    t.dim[0] = batch;
    for (int i = 0; i < b.n; i++) t.dim[1 + i] /= b.block[i];
    TRY(hd_tfl_reshape(m, x, t.rank, t.dim, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

hd_status hd_tfl_batch_to_space(struct hd_tfl *m) {
    struct blocks b;
    bool stored;
    int x, r = 0, p = 0;
    int64_t dim[HD_MAX_RANK], perm[HD_MAX_RANK], from[HD_MAX_RANK], to[HD_MAX_RANK],
        axes[HD_MAX_RANK], all = 1;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    struct hd_tensor t = m->g->tensors[x];
    TRY(get_blocks(m, &t, &b));
    for (int i = 0; i < b.n; i++) {
        dim[r++] = b.block[i];
        if (__builtin_mul_overflow(all, b.block[i], &all)) all = 0;
    }
    if (!all || t.dim[0] % all)
        return hd_tfl_bad(m, HD_INVALID, "a batch of %lld does not fit its blocks",
                          (long long)t.dim[0]);
    dim[r++] = t.dim[0] / all;
    for (int i = 1; i < t.rank; i++) dim[r++] = t.dim[i];
    TRY(hd_tfl_reshape(m, x, r, dim, &x));
    perm[p++] = b.n;
    for (int i = 0; i < b.n; i++) perm[p++] = b.n + 1 + i, perm[p++] = i;
    for (int i = 2 * b.n + 1; i < r; i++) perm[p++] = i;
    TRY(hd_tfl_transpose(m, x, r, perm, &x));
    t.dim[0] /= all;
    for (int i = 0; i < b.n; i++) {
        t.dim[1 + i] *= b.block[i];
        axes[i] = 1 + i, from[i] = b.before[i], to[i] = t.dim[1 + i] - b.after[i];
    }
    TRY(hd_tfl_reshape(m, x, t.rank, t.dim, &x));
    int in[4] = {x, hd_tfl_ints(m, b.n, from), hd_tfl_ints(m, b.n, to), hd_tfl_ints(m, b.n, axes)};
    TRY(hd_tfl_emit(m, HD_IR_slice, 4, in, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

/* ---- shapes as values ---- */

hd_status hd_tfl_shape_op(struct hd_tfl *m) {
    const struct hd_tfl_tensor *y = hd_tfl_out(m, 0);
    int x;
    if (!hd_tfl_in(m, 0) || !y) return hd_tfl_bad(m, HD_INVALID, "an operand is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    TRY(hd_tfl_emit(m, HD_IR_shape, 1, &x, &x));
    if (m->g->tensors[x].known && !m->g->tensors[x].data) { /* the shape of what is no constant */
        const struct hd_tensor t = *hd_tfl_shape(m, hd_tfl_in(m, 0));
        if (t.known) x = hd_tfl_ints(m, t.rank, t.dim);
    }
    TRY(hd_tfl_cast_to(m, x, y->ir == HD_I64 ? HD_I64 : HD_I32, &x));
    return hd_tfl_moved(m, 0, true, x);
}

hd_status hd_tfl_rank(struct hd_tfl *m) {
    int x;
    if (!hd_tfl_in(m, 0)) return hd_tfl_bad(m, HD_INVALID, "operand 0 is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 0), &x));
    int32_t rank = m->g->tensors[x].rank;
    return hd_tfl_moved(m, 0, true, hd_tfl_const(m, HD_I32, 0, NULL, &rank));
}

hd_status hd_tfl_fill(struct hd_tfl *m) {
    int64_t dim[HD_MAX_RANK];
    int v, n;
    TRY(hd_tfl_int_list(m, 0, dim, HD_MAX_RANK, &n));
    if (!hd_tfl_in(m, 1)) return hd_tfl_bad(m, HD_INVALID, "operand 1 is left out");
    TRY(hd_tfl_raw(m, hd_tfl_in(m, 1), &v));
    TRY(hd_tfl_emit(m, HD_IR_fill, 2, (int[]){hd_tfl_ints(m, n, dim), v}, &v));
    return hd_tfl_moved(m, 0, true, v);
}

hd_status hd_tfl_zeros_like(struct hd_tfl *m) {
    bool stored;
    int x;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(filled(m, t.rank, t.dim, t.dtype, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

hd_status hd_tfl_range(struct hd_tfl *m) {
    int in[3];
    for (uint32_t i = 0; i < 3; i++) {
        if (!hd_tfl_in(m, i)) return hd_tfl_bad(m, HD_INVALID, "operand %u is left out", i);
        TRY(hd_tfl_raw(m, hd_tfl_in(m, i), &in[i]));
    }
    TRY(hd_tfl_emit(m, HD_IR_range, 3, in, &in[0]));
    return hd_tfl_moved(m, 0, true, in[0]);
}
