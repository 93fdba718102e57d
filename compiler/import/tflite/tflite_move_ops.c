/* TFLite operations that move values: shapes, joins, cuts, pads. */
#include <string.h>

#include "compiler/import/tflite/tflite_move.h"
#include "compiler/import/tflite/tflite_ops.h"
#include "runtime/base/num.h"

hd_status hd_tfl_movable(struct hd_tfl *m, uint32_t i, bool *stored, int *out) {
    struct hd_tfl_tensor *x = hd_tfl_in(m, i), *y = hd_tfl_out(m, 0);
    if (!x || !y) return hd_tfl_bad(m, HD_INVALID, "operand %u or its result is left out", i);
    *stored = hd_tfl_same_scale(x, y);
    TRY(*stored ? hd_tfl_raw(m, x, out) : hd_tfl_real(m, x, out));
    if (!m->g->tensors[*out].known)
        return hd_tfl_bad(m, HD_UNSUPPORTED, "the shape of '%s' depends on the run", x->name);
    return HD_OK;
}

hd_status hd_tfl_moved(struct hd_tfl *m, uint32_t i, bool stored, int v) {
    if (!stored) return hd_tfl_set_real(m, hd_tfl_out(m, i), v);
    hd_tfl_set_raw(m, hd_tfl_out(m, i), v);
    return HD_OK;
}

/* ---- shapes ---- */

static hd_status reshaped(struct hd_tfl *m, int rank, const int64_t *dim) {
    bool stored;
    int x;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_reshape(m, x, rank, dim, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

/* One dimension may be -1. */
static hd_status fill_in(struct hd_tfl *m, int64_t elems, int rank, int64_t *dim) {
    int64_t known = 1;
    int open = -1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < -1 || (dim[i] == -1 && open >= 0) ||
            (dim[i] >= 0 && __builtin_mul_overflow(known, dim[i], &known)))
            return hd_tfl_bad(m, HD_INVALID, "dimension %d of its shape is %lld", i,
                              (long long)dim[i]);
        if (dim[i] == -1) open = i;
    }
    if (open >= 0) dim[open] = known ? elems / known : 0;
    return HD_OK;
}

static hd_status new_shape(struct hd_tfl *m, const struct hd_tfl_tensor *y, int *rank,
                           int64_t *dim) {
    struct hd_fb_vector v = hd_fb_vector(&m->fb, &m->op->options, 0, 4);
    struct hd_tfl_tensor *s = hd_tfl_in(m, 1);
    int x;
    if (s) TRY(hd_tfl_raw(m, s, &x));
    if (s && m->g->tensors[x].data) return hd_tfl_int_list(m, 1, dim, HD_MAX_RANK, rank);
    *rank = v.n ? (int)v.n : y->rank; /* of the run, or nowhere: as the file says */
    if (v.n > HD_MAX_RANK) return hd_tfl_bad(m, HD_UNSUPPORTED, "rank %u", v.n);
    for (int i = 0; i < *rank; i++) dim[i] = v.n ? hd_fb_item(&v, (uint32_t)i) : y->dim[i];
    return HD_OK;
}

hd_status hd_tfl_reshape_op(struct hd_tfl *m) {
    int64_t dim[HD_MAX_RANK];
    int rank, x;
    bool stored;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(new_shape(m, hd_tfl_out(m, 0), &rank, dim));
    TRY(fill_in(m, hd_tensor_elems(&m->g->tensors[x]), rank, dim));
    return reshaped(m, rank, dim);
}

hd_status hd_tfl_squeeze(struct hd_tfl *m) {
    struct hd_fb_vector v = hd_fb_vector(&m->fb, &m->op->options, 0, 4);
    bool stored, drop[HD_MAX_RANK] = {0};
    int64_t dim[HD_MAX_RANK], axis;
    int x, rank = 0;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    for (int i = 0; i < t.rank; i++) drop[i] = !v.n && t.dim[i] == 1;
    for (uint32_t i = 0; i < v.n; i++) {
        TRY(hd_tfl_axis(m, hd_fb_item(&v, i), t.rank, &axis));
        drop[axis] = true;
    }
    for (int i = 0; i < t.rank; i++)
        if (!drop[i]) dim[rank++] = t.dim[i];
    return reshaped(m, rank, dim);
}

hd_status hd_tfl_expand_dims(struct hd_tfl *m) {
    int64_t dim[HD_MAX_RANK + 1], axis;
    bool stored;
    int x, n;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_int_list(m, 1, &axis, 1, &n));
    const struct hd_tensor t = m->g->tensors[x];
    if (n != 1 || t.rank == HD_MAX_RANK) return hd_tfl_bad(m, HD_INVALID, "rank %d", t.rank + 1);
    TRY(hd_tfl_axis(m, axis, t.rank + 1, &axis));
    for (int i = 0, k = 0; i <= t.rank; i++) dim[i] = i == axis ? 1 : t.dim[k++];
    return reshaped(m, t.rank + 1, dim);
}

hd_status hd_tfl_transpose_op(struct hd_tfl *m) {
    int64_t perm[HD_MAX_RANK];
    bool stored;
    int x, n;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    TRY(hd_tfl_int_list(m, 1, perm, HD_MAX_RANK, &n));
    for (int i = 0; i < n; i++) TRY(hd_tfl_axis(m, perm[i], n, &perm[i]));
    TRY(hd_tfl_transpose(m, x, n, perm, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

/* ---- joins and cuts ---- */

/* All operands as stored when all have the scale of the result, else as floats. */
static hd_status joined(struct hd_tfl *m, int64_t axis, bool add_axis) {
    int *in = hd_new_array(m->arena, int, (size_t)m->op->n_in + 1), y;
    bool stored = true, one;
    for (uint32_t i = 0; i < m->op->n_in; i++) {
        TRY(hd_tfl_movable(m, i, &one, &in[i]));
        stored = stored && one;
    }
    for (uint32_t i = 0; i < m->op->n_in; i++) {
        if (!stored) TRY(hd_tfl_real(m, hd_tfl_in(m, i), &in[i]));
        struct hd_tensor t = m->g->tensors[in[i]];
        int64_t dim[HD_MAX_RANK + 1];
        if (!i) TRY(hd_tfl_axis(m, axis, t.rank + add_axis, &axis));
        if (!add_axis) continue;
        if (t.rank == HD_MAX_RANK) return hd_tfl_bad(m, HD_UNSUPPORTED, "rank %d", t.rank + 1);
        for (int d = 0, k = 0; d <= t.rank; d++)
            dim[d] = d == axis ? 1 : k < t.rank ? t.dim[k++] : 1;
        TRY(hd_tfl_reshape(m, in[i], t.rank + 1, dim, &in[i]));
    }
    int id = hd_tfl_node(m, HD_IR_concat, (int)m->op->n_in, in, &y);
    hd_attr_set_int(m->g, id, "axis", axis);
    TRY(hd_tfl_done(m, id));
    if (!add_axis) TRY(hd_tfl_activate(m, y, stored ? 0 : hd_tfl_option(m, 1, 1, 0), &y));
    return hd_tfl_moved(m, 0, stored, y);
}

hd_status hd_tfl_concat(struct hd_tfl *m) {
    return joined(m, hd_tfl_option(m, 0, 4, 0), false);
}

hd_status hd_tfl_pack(struct hd_tfl *m) {
    return joined(m, hd_tfl_option(m, 1, 4, 0), true);
}

static hd_status cut(struct hd_tfl *m, int x, int64_t axis, int64_t from, int64_t to, int64_t step,
                     int *out) {
    int in[5] = {x, hd_tfl_ints(m, 1, &from), hd_tfl_ints(m, 1, &to), hd_tfl_ints(m, 1, &axis),
                 hd_tfl_ints(m, 1, &step)};
    return hd_tfl_emit(m, HD_IR_slice, 5, in, out);
}

hd_status hd_tfl_unpack(struct hd_tfl *m) {
    int64_t axis, dim[HD_MAX_RANK];
    bool stored;
    int x, y, rank = 0;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_tfl_axis(m, hd_tfl_option(m, 1, 4, 0), t.rank, &axis));
    for (int i = 0; i < t.rank; i++)
        if (i != axis) dim[rank++] = t.dim[i];
    if (t.dim[axis] != m->op->n_out)
        return hd_tfl_bad(m, HD_INVALID, "%u results of %lld", m->op->n_out,
                          (long long)t.dim[axis]);
    for (uint32_t i = 0; i < m->op->n_out; i++) {
        TRY(cut(m, x, axis, i, (int64_t)i + 1, 1, &y));
        TRY(hd_tfl_reshape(m, y, rank, dim, &y));
        TRY(hd_tfl_moved(m, i, stored, y));
    }
    return HD_OK;
}

/* SPLIT: axis, x. SPLIT_V: x, sizes, axis. */
hd_status hd_tfl_split(struct hd_tfl *m) {
    bool sized = m->op->code == 102, stored;
    int64_t axis, *size = hd_new_array(m->arena, int64_t, (size_t)m->op->n_out + 1), at = 0;
    int x, n, y;
    TRY(hd_tfl_movable(m, sized ? 0 : 1, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_tfl_int_list(m, sized ? 2 : 0, &axis, 1, &n));
    if (n != 1) return hd_tfl_bad(m, HD_INVALID, "%d axes, want 1", n);
    TRY(hd_tfl_axis(m, axis, t.rank, &axis));
    if (sized) TRY(hd_tfl_int_list(m, 1, size, (int)m->op->n_out, &n));
    if ((sized && n != (int)m->op->n_out) || (!sized && t.dim[axis] % m->op->n_out))
        return hd_tfl_bad(m, HD_INVALID, "%lld values do not make %u results",
                          (long long)t.dim[axis], m->op->n_out);
    for (uint32_t i = 0; i < m->op->n_out; i++)
        size[i] = sized ? size[i] : t.dim[axis] / m->op->n_out;
    int64_t sum = 0, open = -1;
    for (uint32_t i = 0; i < m->op->n_out; i++) {
        if (size[i] < -1 || size[i] > t.dim[axis] || (size[i] < 0 && open >= 0))
            return hd_tfl_bad(m, HD_INVALID, "size %u is %lld", i, (long long)size[i]);
        if (size[i] < 0) open = i;
        sum += size[i] < 0 ? 0 : size[i];
    }
    if (open >= 0) size[open] = t.dim[axis] - sum;
    for (uint32_t i = 0; i < m->op->n_out; i++, at += size[i - 1]) {
        TRY(cut(m, x, axis, at, at + size[i], 1, &y));
        TRY(hd_tfl_moved(m, i, stored, y));
    }
    return HD_OK;
}

hd_status hd_tfl_slice(struct hd_tfl *m) {
    int64_t from[HD_MAX_RANK], size[HD_MAX_RANK];
    bool stored;
    int x, n, k, y;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(hd_tfl_int_list(m, 1, from, HD_MAX_RANK, &n));
    TRY(hd_tfl_int_list(m, 2, size, HD_MAX_RANK, &k));
    if (n != t.rank || k != t.rank)
        return hd_tfl_bad(m, HD_INVALID, "%d begins and %d sizes", n, k);
    for (int i = 0; i < n; i++) {
        if (from[i] < 0 || from[i] > t.dim[i] || size[i] < -1 || size[i] > t.dim[i] - from[i])
            return hd_tfl_bad(m, HD_INVALID, "dimension %d: %lld values from %lld on, it has %lld",
                              i, (long long)size[i], (long long)from[i], (long long)t.dim[i]);
        size[i] = size[i] < 0 ? t.dim[i] : from[i] + size[i];
    }
    int in[3] = {x, hd_tfl_ints(m, n, from), hd_tfl_ints(m, n, size)};
    TRY(hd_tfl_emit(m, HD_IR_slice, 3, in, &y));
    return hd_tfl_moved(m, 0, stored, y);
}

/* numpy's indexing, as masks of the positions in the index. */
struct cut_plan {
    int n_cuts, rank;
    int64_t from[HD_MAX_RANK], to[HD_MAX_RANK], step[HD_MAX_RANK], dim[HD_MAX_RANK];
};

static hd_status plan_cut(struct hd_tfl *m, const struct hd_tensor *t, struct cut_plan *p) {
    int64_t from[2 * HD_MAX_RANK], to[2 * HD_MAX_RANK], step[2 * HD_MAX_RANK];
    int n, k, q, d = 0;
    int64_t masks[5];
    for (int i = 0; i < 5; i++) masks[i] = hd_tfl_option(m, i, 4, 0);
    TRY(hd_tfl_int_list(m, 1, from, 2 * HD_MAX_RANK, &n));
    TRY(hd_tfl_int_list(m, 2, to, 2 * HD_MAX_RANK, &k));
    TRY(hd_tfl_int_list(m, 3, step, 2 * HD_MAX_RANK, &q));
    if (n != k || n != q) return hd_tfl_bad(m, HD_INVALID, "%d begins, %d ends, %d steps", n, k, q);
    int new_axes =
        __builtin_popcountll((uint64_t)masks[3] & ((UINT64_C(1) << n) - 1) & ~(uint64_t)masks[2]);
    for (int i = 0; i < n; i++) {
        bool begin = masks[0] >> i & 1, end = masks[1] >> i & 1, ellipsis = masks[2] >> i & 1,
             new_axis = masks[3] >> i & 1, shrink = masks[4] >> i & 1;
        int whole = ellipsis ? t->rank - (n - 1 - new_axes) : 0;
        if (p->rank >= HD_MAX_RANK)
            return hd_tfl_bad(m, HD_UNSUPPORTED, "more than %d dimensions", HD_MAX_RANK);
        for (; whole > 0 && d < t->rank && p->rank < HD_MAX_RANK; whole--, d++) {
            p->from[d] = 0, p->to[d] = t->dim[d], p->step[d] = 1;
            p->dim[p->rank++] = t->dim[d];
        }
        if (ellipsis) continue;
        if (new_axis) {
            p->dim[p->rank++] = 1;
            continue;
        }
        if (d >= t->rank || !step[i])
            return hd_tfl_bad(m, HD_INVALID, "index %d: step %lld, of %d dimensions", i,
                              (long long)step[i], t->rank);
        int64_t size = t->dim[d], s = shrink ? 1 : step[i], a = from[i], b = to[i];
        if (hd_tfl_option(m, 5, 1, 0)) b += a; /* ends count from the begin */
        a = a < 0 ? a + size : a, b = b < 0 ? b + size : b;
        a = begin ? (s > 0 ? 0 : size - 1)
                  : hd_max(s > 0 ? 0 : -1, hd_min(a, s > 0 ? size : size - 1));
        b = end ? (s > 0 ? size : -1) : hd_max(s > 0 ? 0 : -1, hd_min(b, s > 0 ? size : size - 1));
        if (shrink) a = hd_min(a, size - 1), b = a + 1;
        int64_t count = s > 0 ? hd_ceil_div(b - a, s) : hd_ceil_div(a - b, -s);
        p->from[d] = a, p->step[d] = s;
        p->to[d] = b < 0 ? -size - 1 : b; /* before the first */
        if (!shrink) p->dim[p->rank++] = hd_max(count, 0);
        d++;
    }
    for (; d < t->rank && p->rank < HD_MAX_RANK; d++) {
        p->from[d] = 0, p->to[d] = t->dim[d], p->step[d] = 1;
        p->dim[p->rank++] = t->dim[d];
    }
    p->n_cuts = d;
    return HD_OK;
}

hd_status hd_tfl_strided_slice(struct hd_tfl *m) {
    struct cut_plan p = {0};
    bool stored;
    int x;
    TRY(hd_tfl_movable(m, 0, &stored, &x));
    const struct hd_tensor t = m->g->tensors[x];
    TRY(plan_cut(m, &t, &p));
    int64_t axes[HD_MAX_RANK];
    for (int i = 0; i < HD_MAX_RANK; i++) axes[i] = i;
    int in[5] = {x, hd_tfl_ints(m, p.n_cuts, p.from), hd_tfl_ints(m, p.n_cuts, p.to),
                 hd_tfl_ints(m, p.n_cuts, axes), hd_tfl_ints(m, p.n_cuts, p.step)};
    TRY(hd_tfl_emit(m, HD_IR_slice, 5, in, &x));
    TRY(hd_tfl_reshape(m, x, p.rank, p.dim, &x));
    return hd_tfl_moved(m, 0, stored, x);
}

/* ---- pads ---- */

/* Pairs before, after of each dimension -> all before, then all after. */
static hd_status pads(struct hd_tfl *m, int rank, int *out) {
    int64_t pair[2 * HD_MAX_RANK], flat[2 * HD_MAX_RANK];
    int n;
    TRY(hd_tfl_int_list(m, 1, pair, 2 * HD_MAX_RANK, &n));
    if (n != 2 * rank) return hd_tfl_bad(m, HD_INVALID, "%d pads, want %d", n, 2 * rank);
    for (int i = 0; i < rank; i++) flat[i] = pair[2 * i], flat[rank + i] = pair[2 * i + 1];
    *out = hd_tfl_ints(m, n, flat);
    return HD_OK;
}

/* What is padded with: operand 2, or 0, which is the zero point of values as stored. */
static hd_status pad_value(struct hd_tfl *m, bool stored, hd_dtype type, int *out) {
    const struct hd_tfl_tensor *x = hd_tfl_in(m, 0);
    struct hd_tfl_tensor *v = hd_tfl_in(m, 2);
    if (v) {
        TRY(stored ? hd_tfl_raw(m, v, out) : hd_tfl_real(m, v, out));
        return hd_tfl_reshape(m, *out, 0, NULL, out);
    }
    double zero = stored && hd_tfl_quantised(x) ? (double)x->zero[0] : 0;
    int wide = hd_tfl_const(m, HD_F64, 0, NULL, &zero);
    return hd_tfl_cast_to(m, wide, type, out);
}

hd_status hd_tfl_pad(struct hd_tfl *m) {
    bool stored;
    int in[3];
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(pads(m, m->g->tensors[in[0]].rank, &in[1]));
    TRY(pad_value(m, stored, m->g->tensors[in[0]].dtype, &in[2]));
    TRY(hd_tfl_emit(m, HD_IR_pad, 3, in, &in[0]));
    return hd_tfl_moved(m, 0, stored, in[0]);
}

/* Mirrors that repeat the edge have no form in the graph. */
hd_status hd_tfl_mirror_pad(struct hd_tfl *m) {
    bool stored;
    int in[2], id;
    if (hd_tfl_option(m, 0, 1, 0))
        return hd_tfl_bad(m, HD_UNSUPPORTED, "mode SYMMETRIC; allowed: REFLECT");
    TRY(hd_tfl_movable(m, 0, &stored, &in[0]));
    TRY(pads(m, m->g->tensors[in[0]].rank, &in[1]));
    id = hd_tfl_node(m, HD_IR_pad, 2, in, &in[0]);
    hd_attr_set_string(m->g, id, "mode", "reflect");
    TRY(hd_tfl_done(m, id));
    return hd_tfl_moved(m, 0, stored, in[0]);
}
