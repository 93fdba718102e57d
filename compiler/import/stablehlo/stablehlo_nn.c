/* StableHLO reductions, windows, products and convolutions. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

enum { ITERATIONS_MAX = 1 << 14 };

/* Operands are x.., init..; the pretty form with several writes each init behind its x. */
static size_t operand_at(const struct hd_mlir_op *op, size_t n, size_t i, bool init) {
    bool pairs = n > 1 && hd_mlir_has_word(op, "init");
    return pairs ? 2 * i + init : init ? n + i : i;
}

static hd_status get_operands(struct hd_shlo *m, size_t n, int *x, int *init) {
    for (size_t i = 0; i < n; i++) {
        TRY(hd_shlo_in(m, operand_at(m->op, n, i, false), &x[i]));
        TRY(hd_shlo_in(m, operand_at(m->op, n, i, true), &init[i]));
    }
    return HD_OK;
}

/* One more value of each: acc = body(acc, x). The body is computed for whole tensors at once. */
static hd_status fold_in(struct hd_shlo *m, size_t n, int *acc, const int *x) {
    int *args = hd_new_array(m->arena, int, 2 * n + 1);
    const char *applies = hd_mlir_attr(m->op, "applies");
    if (applies || !m->op->n_regions) {
        int op = hd_shlo_body_op(m->op);
        bool truth = hd_shlo_shape(m, acc[0]).dtype == HD_BOOL;
        if (op < 0) return hd_shlo_bad(m, HD_UNSUPPORTED, "a body '%s'", applies ? applies : "");
        if (truth)
            op = op == HD_IR_bitwiseand || op == HD_IR_mul || op == HD_IR_min ? HD_IR_and
                 : op == HD_IR_bitwisexor                                     ? HD_IR_xor
                                                                              : HD_IR_or;
        return hd_shlo_binary(m, (enum hd_ir_op)op, acc[0], x[0], &acc[0]);
    }
    memcpy(args, acc, n * sizeof *args);
    memcpy(args + n, x, n * sizeof *args);
    return hd_shlo_combine(m, &m->op->regions[0], args, 2 * n, acc, n);
}

static enum hd_ir_op reduction_of(int op) {
    return op == HD_IR_add   ? HD_IR_reducesum
           : op == HD_IR_mul ? HD_IR_reduceprod
           : op == HD_IR_max ? HD_IR_reducemax
           : op == HD_IR_min ? HD_IR_reducemin
                             : HD_IR_OPS;
}

static bool is_number(hd_dtype t) {
    return hd_shlo_is_float(t) || t == HD_I32 || t == HD_I64 || t == HD_U32 || t == HD_U64;
}

/* All places of the dimensions that are reduced, one after another. */
static hd_status reduce_by_turns(struct hd_shlo *m, size_t n, const int *x, int *acc,
                                 const int64_t *axes, int n_axes) {
    const struct hd_tensor t = hd_shlo_shape(m, x[0]);
    int64_t iterations = 1, rest[HD_MAX_RANK];
    int rank = 0;
    bool out[HD_MAX_RANK] = {0};
    for (int i = 0; i < n_axes; i++) out[axes[i]] = true, iterations *= t.dim[axes[i]];
    for (int i = 0; i < t.rank; i++)
        if (!out[i]) rest[rank++] = t.dim[i];
    if (iterations > ITERATIONS_MAX)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "%lld iterations of its body, at most %d",
                           (long long)iterations, ITERATIONS_MAX);
    int *one = hd_new_array(m->arena, int, n + 1);
    for (int64_t it = 0; it < iterations; it++) {
        int64_t from[HD_MAX_RANK], to[HD_MAX_RANK], step[HD_MAX_RANK], at = it;
        for (int i = t.rank - 1; i >= 0; i--) {
            from[i] = out[i] ? at % t.dim[i] : 0, to[i] = out[i] ? from[i] + 1 : t.dim[i];
            step[i] = 1;
            if (out[i]) at /= t.dim[i];
        }
        for (size_t k = 0; k < n; k++) {
            TRY(hd_shlo_slice(m, x[k], t.rank, from, to, step, &one[k]));
            TRY(hd_shlo_reshape(m, one[k], rank, rest, &one[k]));
        }
        TRY(fold_in(m, n, acc, one));
    }
    for (size_t k = 0; k < n; k++) /* nothing was folded in: the initial value everywhere */
        if (hd_shlo_shape(m, acc[k]).rank != rank)
            TRY(hd_shlo_emit(m, HD_IR_expand, 2, (int[]){acc[k], hd_shlo_ints(m, rank, rest)},
                             &acc[k]));
    return HD_OK;
}

hd_status hd_shlo_op_reduce(struct hd_shlo *m) {
    int64_t axes[HD_MAX_RANK];
    size_t n = m->op->n_operands / 2;
    int *x = hd_new_array(m->arena, int, n + 1), *acc = hd_new_array(m->arena, int, n + 1);
    const char *text = hd_mlir_attr(m->op, "dimensions");
    int n_axes = hd_mlir_ints(text, axes, HD_MAX_RANK), op = hd_shlo_body_op(m->op), y;
    if (!n) return hd_shlo_bad(m, HD_INVALID, "it has no operands");
    TRY(get_operands(m, n, x, acc));
    const struct hd_tensor t = hd_shlo_shape(m, x[0]);
    bool bad = n_axes > t.rank;
    for (int i = 0; !bad && i < n_axes; i++) bad = axes[i] < 0 || axes[i] >= t.rank;
    for (size_t k = 1; k < n; k++) bad = bad || hd_shlo_shape(m, x[k]).rank != t.rank;
    if (bad) return hd_shlo_bad(m, HD_INVALID, "its dimensions do not fit its operands");
    enum hd_ir_op r = op < 0 ? HD_IR_OPS : reduction_of(op);
    if (n == 1 && r != HD_IR_OPS && is_number(t.dtype) && n_axes && hd_tensor_elems(&t)) {
        int id = hd_shlo_node(m, r, 2, (int[]){x[0], hd_shlo_ints(m, n_axes, axes)}, &y);
        hd_attr_set_int(m->g, id, "keepdims", 0);
        TRY(hd_shlo_done(m, id));
        TRY(hd_shlo_binary(m, (enum hd_ir_op)op, y, acc[0], &y));
        return hd_shlo_out(m, 0, y);
    }
    TRY(reduce_by_turns(m, n, x, acc, axes, n_axes));
    for (size_t k = 0; k < n; k++) TRY(hd_shlo_out(m, k, acc[k]));
    return HD_OK;
}

/* ---- windows ---- */

hd_status hd_shlo_op_reduce_window(struct hd_shlo *m) {
    size_t n = m->op->n_operands / 2;
    int *x = hd_new_array(m->arena, int, n + 1), *acc = hd_new_array(m->arena, int, n + 1),
        *one = hd_new_array(m->arena, int, n + 1);
    int64_t size[HD_MAX_RANK], stride[HD_MAX_RANK], base[HD_MAX_RANK], dilation[HD_MAX_RANK],
        pads[2 * HD_MAX_RANK], low[HD_MAX_RANK], high[HD_MAX_RANK], out[HD_MAX_RANK],
        iterations = 1;
    if (!n) return hd_shlo_bad(m, HD_INVALID, "it has no operands");
    TRY(get_operands(m, n, x, acc));
    int rank = hd_shlo_shape(m, x[0]).rank;
    TRY(hd_shlo_list(m, "window_dimensions", rank, 1, size));
    TRY(hd_shlo_list(m, "window_strides", rank, 1, stride));
    TRY(hd_shlo_list(m, "base_dilations", rank, 1, base));
    TRY(hd_shlo_list(m, "window_dilations", rank, 1, dilation));
    TRY(hd_shlo_list(m, "padding", 2 * rank, 0, pads));
    for (int i = 0; i < rank; i++) {
        if (size[i] < 1 || stride[i] < 1 || base[i] < 1 || dilation[i] < 1 ||
            size[i] > ITERATIONS_MAX || base[i] > ITERATIONS_MAX || dilation[i] > INT32_MAX ||
            stride[i] > INT32_MAX)
            return hd_shlo_bad(m, HD_INVALID, "window %d", i);
        low[i] = pads[2 * i], high[i] = pads[2 * i + 1], base[i]--;
        iterations *= size[i];
        if (iterations > ITERATIONS_MAX)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "a window of %lld", (long long)iterations);
    }
    for (size_t k = 0; k < n; k++) TRY(hd_shlo_padded(m, x[k], acc[k], low, high, base, &x[k]));
    const struct hd_tensor t = hd_shlo_shape(m, x[0]);
    for (int i = 0; i < rank; i++) {
        int64_t over = t.dim[i] - ((size[i] - 1) * dilation[i] + 1);
        out[i] = over < 0 ? 0 : over / stride[i] + 1;
    }
    for (int64_t it = 0; it < iterations; it++) {
        int64_t from[HD_MAX_RANK], to[HD_MAX_RANK], at = it;
        for (int i = rank - 1; i >= 0; at /= size[i], i--) {
            from[i] = at % size[i] * dilation[i];
            to[i] = from[i] + (out[i] ? (out[i] - 1) * stride[i] + 1 : 0);
        }
        for (size_t k = 0; k < n; k++) TRY(hd_shlo_slice(m, x[k], rank, from, to, stride, &one[k]));
        TRY(fold_in(m, n, acc, one));
    }
    for (size_t k = 0; k < n; k++) TRY(hd_shlo_out(m, k, acc[k]));
    return HD_OK;
}

/* ---- products ---- */

/* "[0] x [1]", or members of dot_dimension_numbers. */
static hd_status pair_of(struct hd_shlo *m, const char *pretty, const char *left, const char *right,
                         int64_t *a, int64_t *b, int *n) {
    const char *text = hd_mlir_attr(m->op, pretty),
               *dims = hd_mlir_attr(m->op, "dot_dimension_numbers");
    int64_t v[2 * HD_MAX_RANK];
    *n = 0;
    if (text) {
        int got = hd_mlir_ints(text, v, 2 * HD_MAX_RANK);
        if (got % 2 || got > 2 * HD_MAX_RANK) return hd_shlo_bad(m, HD_INVALID, "its %s", pretty);
        *n = got / 2;
        memcpy(a, v, (size_t)*n * sizeof *a);
        memcpy(b, v + *n, (size_t)*n * sizeof *b);
    } else if (dims) {
        for (int side = 0; side < 2; side++) {
            const char *p = strstr(dims, side ? right : left), *open = p ? strchr(p, '[') : NULL;
            char list[200] = "";
            if (open) snprintf(list, sizeof list, "%.*s", (int)strcspn(open, "]"), open);
            int got = hd_mlir_ints(list, side ? b : a, HD_MAX_RANK);
            if (side && got != *n) return hd_shlo_bad(m, HD_INVALID, "its %s", pretty);
            *n = got;
        }
    }
    return HD_OK;
}

/* x as [batch.., kept.., contracted..] flattened to three dimensions; kept sizes go to dim. */
static hd_status arranged(struct hd_shlo *m, int x, const int64_t *batch, int n_batch,
                          const int64_t *inner, int n_inner, bool inner_last, int64_t *dim,
                          int *rank, int *out) {
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t perm[HD_MAX_RANK], flat[3] = {1, 1, 1};
    bool used[HD_MAX_RANK] = {0};
    int n = 0;
    for (int i = 0; i < n_batch + n_inner; i++) {
        int64_t d = i < n_batch ? batch[i] : inner[i - n_batch];
        if (d < 0 || d >= t.rank || used[d]) return hd_shlo_bad(m, HD_INVALID, "its dimensions");
        used[d] = true;
    }
    for (int i = 0; i < n_batch; i++) perm[n++] = batch[i], flat[0] *= t.dim[batch[i]];
    for (int i = 0; !inner_last && i < n_inner; i++) perm[n++] = inner[i];
    for (int i = 0; i < t.rank; i++) {
        if (used[i]) continue;
        perm[n++] = i, flat[inner_last ? 1 : 2] *= t.dim[i];
        if (*rank == HD_MAX_RANK)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "rank above %d", HD_MAX_RANK);
        dim[(*rank)++] = t.dim[i];
    }
    for (int i = 0; i < n_inner; i++) {
        if (inner_last) perm[n++] = inner[i];
        flat[inner_last ? 2 : 1] *= t.dim[inner[i]];
    }
    TRY(hd_shlo_transpose(m, x, t.rank, perm, &x));
    return hd_shlo_reshape(m, x, 3, flat, out);
}

static hd_status product(struct hd_shlo *m, const int64_t *ba, const int64_t *bb, int n_batch,
                         const int64_t *ca, const int64_t *cb, int n_inner) {
    int64_t dim[HD_MAX_RANK];
    struct hd_shlo_type r;
    int a, b, y, rank = 0;
    TRY(hd_shlo_in(m, 0, &a));
    TRY(hd_shlo_in(m, 1, &b));
    TRY(hd_shlo_result_type(m, 0, &r));
    const struct hd_tensor t = hd_shlo_shape(m, a);
    hd_dtype type = r.quantised || r.dtype == HD_F64 ? (r.quantised ? HD_F32 : HD_F64)
                    : hd_shlo_is_float(r.dtype)      ? HD_F32
                                                     : HD_I64;
    for (int i = 0; i < n_batch; i++) {
        if (ba[i] < 0 || ba[i] >= t.rank || i >= HD_MAX_RANK)
            return hd_shlo_bad(m, HD_INVALID, "its dimensions");
        dim[rank++] = t.dim[ba[i]];
    }
    TRY(arranged(m, a, ba, n_batch, ca, n_inner, true, dim, &rank, &a));
    TRY(arranged(m, b, bb, n_batch, cb, n_inner, false, dim, &rank, &b));
    TRY(hd_shlo_cast(m, a, type, &a));
    TRY(hd_shlo_cast(m, b, type, &b));
    TRY(hd_shlo_binary(m, HD_IR_matmul, a, b, &y));
    TRY(hd_shlo_reshape(m, y, rank, dim, &y));
    if (!r.quantised) TRY(hd_shlo_cast(m, y, r.dtype, &y));
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_dot_general(struct hd_shlo *m) {
    int64_t ba[HD_MAX_RANK], bb[HD_MAX_RANK], ca[HD_MAX_RANK], cb[HD_MAX_RANK];
    int batch, inner;
    TRY(pair_of(m, "batching_dims", "lhs_batching_dimensions", "rhs_batching_dimensions", ba, bb,
                &batch));
    TRY(pair_of(m, "contracting_dims", "lhs_contracting_dimensions", "rhs_contracting_dimensions",
                ca, cb, &inner));
    return product(m, ba, bb, batch, ca, cb, inner);
}

hd_status hd_shlo_op_dot(struct hd_shlo *m) {
    int a;
    TRY(hd_shlo_in(m, 0, &a));
    int64_t last = hd_shlo_shape(m, a).rank - 1, first = 0;
    return product(m, NULL, NULL, 0, &last, &first, 1);
}

/* ---- convolution ---- */

/* "[b, 0, 1, f]": the place of each letter, then of the spatial dimensions in order. */
static bool layout(const char *p, size_t n, const char *letters, int64_t *perm, int *rank) {
    int64_t place[HD_MAX_RANK];
    int k = 0;
    for (int i = 0; i < HD_MAX_RANK; i++) place[i] = -1;
    for (const char *end = p + n; p < end; p++) {
        if (strchr("[], ", *p)) continue;
        const char *at = strchr(letters, *p);
        int slot = at ? (int)(at - letters) : *p >= '0' && *p <= '5' ? *p - '0' + 2 : -1;
        if (slot < 0 || slot >= HD_MAX_RANK || place[slot] >= 0 || k == HD_MAX_RANK) return false;
        place[slot] = k++;
    }
    for (int i = 0; i < k; i++) {
        if (place[i] < 0) return false;
        perm[i] = place[i];
    }
    *rank = k;
    return k >= 2;
}

struct conv {
    int64_t in[HD_MAX_RANK], w[HD_MAX_RANK], out[HD_MAX_RANK]; /* of [N,C,..], [O,I,..], [N,C,..] */
    int64_t stride[HD_MAX_RANK], pads[2 * HD_MAX_RANK], lhs[HD_MAX_RANK], rhs[HD_MAX_RANK];
    int64_t groups, batch_groups;
    int sp;
};

/* A member of window = {stride = [1, 1], pad = [[0, 0], [0, 0]], ..}, or the attribute itself. */
static hd_status window_list(struct hd_shlo *m, const char *pretty, const char *name, int n,
                             int64_t def, int64_t *out) {
    const char *w = hd_mlir_attr(m->op, "window"), *p = w ? strstr(w, pretty) : NULL;
    if (!p) return hd_shlo_list(m, name, n, def, out);
    const char *open = strchr(p, '['), *end = open;
    for (int depth = 0; end && *end; end++) {
        depth += (*end == '[') - (*end == ']');
        if (!depth) break;
    }
    char text[300];
    if (!end || (size_t)(end - open) >= sizeof text)
        return hd_shlo_bad(m, HD_INVALID, "its window");
    memcpy(text, open, (size_t)(end - open));
    text[end - open] = 0;
    if (hd_mlir_ints(text, out, n) != n)
        return hd_shlo_bad(m, HD_INVALID, "its window's %s", pretty);
    return HD_OK;
}

/* The long form: first, second and spatial dimensions, each by name. */
static bool raw_layout(const char *text, const char *stem, const char *first, const char *second,
                       int64_t *perm, int *rank) {
    char name[80];
    int64_t v[HD_MAX_RANK];
    const char *const part[3] = {first, second, "spatial_dimensions"};
    *rank = 0;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s", stem, part[i]);
        int n = hd_shlo_member(text, name, v);
        if (n < (i < 2) || n > (i < 2 ? 1 : HD_MAX_RANK - 2)) return false;
        for (int k = 0; k < n; k++) perm[(*rank)++] = v[k];
    }
    for (int i = 0; i < *rank; i++) { /* each dimension once */
        bool found = false;
        for (int k = 0; k < *rank; k++) found = found || perm[k] == i;
        if (!found) return false;
    }
    return true;
}

static bool raw_layouts(const char *text, struct conv *c, int r[3]) {
    return raw_layout(text, "input", "batch_dimension", "feature_dimension", c->in, &r[0]) &&
           raw_layout(text, "kernel", "output_feature_dimension", "input_feature_dimension", c->w,
                      &r[1]) &&
           raw_layout(text, "output", "batch_dimension", "feature_dimension", c->out, &r[2]);
}

static hd_status get_conv(struct hd_shlo *m, struct conv *c) {
    const char *text = hd_mlir_attr(m->op, "dim_numbers"), *x, *arrow;
    if (!text) text = hd_mlir_attr(m->op, "dimension_numbers");
    int r[3] = {0};
    bool raw = text && strstr(text, "input_batch_dimension") && raw_layouts(text, c, r);
    if (text && *text == '#') text = strchr(text, '[');
    x = text ? strstr(text, "]x[") : NULL;
    arrow = x ? strstr(x, "->") : NULL;
    bool pretty = arrow && layout(text, (size_t)(x + 1 - text), "bf", c->in, &r[0]) &&
                  layout(x + 2, (size_t)(arrow - x - 2), "oi", c->w, &r[1]) &&
                  layout(arrow + 2, strcspn(arrow + 2, "]") + 1, "bf", c->out, &r[2]);
    if ((!raw && !pretty) || r[0] != r[1] || r[0] != r[2])
        return hd_shlo_bad(m, HD_INVALID, "its dim_numbers");
    c->sp = r[0] - 2;
    TRY(window_list(m, "stride", "window_strides", c->sp, 1, c->stride));
    TRY(window_list(m, "pad", "padding", 2 * c->sp, 0, c->pads));
    TRY(window_list(m, "lhs_dilate", "lhs_dilation", c->sp, 1, c->lhs));
    TRY(window_list(m, "rhs_dilate", "rhs_dilation", c->sp, 1, c->rhs));
    const char *window = hd_mlir_attr(m->op, "window");
    const char *reversed =
        window ? strstr(window, "reverse") : hd_mlir_attr(m->op, "window_reversal");
    if (reversed && strstr(reversed, "true"))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "a reversed window");
    c->groups = hd_shlo_int(m, "feature_group_count", 1);
    c->batch_groups = hd_shlo_int(m, "batch_group_count", 1);
    return HD_OK;
}

/* Groups of the batch are groups of channels: [g*N, C] -> [N, g*C]. */
static hd_status regroup(struct hd_shlo *m, int64_t groups, int *x) {
    struct hd_tensor t = hd_shlo_shape(m, *x);
    int64_t dim[HD_MAX_RANK], perm[HD_MAX_RANK];
    if (groups < 1 || t.dim[0] % groups || t.rank == HD_MAX_RANK)
        return hd_shlo_bad(m, HD_INVALID, "batch_group_count %lld", (long long)groups);
    dim[0] = groups, dim[1] = t.dim[0] / groups, perm[0] = 1, perm[1] = 0;
    for (int i = 1; i < t.rank; i++) dim[i + 1] = t.dim[i], perm[i + 1] = i + 1;
    TRY(hd_shlo_reshape(m, *x, t.rank + 1, dim, x));
    TRY(hd_shlo_transpose(m, *x, t.rank + 1, perm, x));
    t.dim[1] *= groups, t.dim[0] /= groups;
    return hd_shlo_reshape(m, *x, t.rank, t.dim, x);
}

hd_status hd_shlo_op_convolution(struct hd_shlo *m) {
    struct conv c;
    struct hd_shlo_type r;
    int in[2], y, n, zero;
    TRY(get_conv(m, &c));
    TRY(hd_shlo_result_type(m, 0, &r));
    if (m->op->n_operands > 2) {
        TRY(hd_shlo_known_ints(m, 2, c.pads, 2 * HD_MAX_RANK, &n));
        if (n != 2 * c.sp) return hd_shlo_bad(m, HD_INVALID, "%d pads", n);
    }
    for (size_t i = 0; i < 2; i++) {
        TRY(hd_shlo_in(m, i, &in[i]));
        if (hd_shlo_shape(m, in[i]).rank != c.sp + 2)
            return hd_shlo_bad(m, HD_INVALID, "operand %zu has rank %d", i,
                               hd_shlo_shape(m, in[i]).rank);
        TRY(hd_shlo_transpose(m, in[i], c.sp + 2, i ? c.w : c.in, &in[i]));
        TRY(hd_shlo_cast(m, in[i],
                         r.dtype == HD_F64 || !hd_shlo_is_float(r.dtype)
                             ? (r.quantised ? HD_F32 : HD_F64)
                             : HD_F32,
                         &in[i]));
    }
    if (c.batch_groups != 1) TRY(regroup(m, c.batch_groups, &in[0]));
    int64_t low[HD_MAX_RANK] = {0}, high[HD_MAX_RANK] = {0}, interior[HD_MAX_RANK] = {0},
            back[HD_MAX_RANK];
    for (int i = 0; i < c.sp; i++) {
        if (c.lhs[i] < 1 || c.lhs[i] > INT16_MAX) return hd_shlo_bad(m, HD_INVALID, "lhs_dilation");
        low[2 + i] = c.pads[2 * i], high[2 + i] = c.pads[2 * i + 1], interior[2 + i] = c.lhs[i] - 1;
    }
    TRY(hd_shlo_scalar(m, 0, in[0], &zero));
    TRY(hd_shlo_padded(m, in[0], zero, low, high, interior, &in[0]));
    if (!c.sp) { /* no window: a product, as a window of one place */
        for (int i = 0; i < 2; i++) {
            struct hd_tensor t = hd_shlo_shape(m, in[i]);
            TRY(hd_shlo_reshape(m, in[i], 3, (int64_t[]){t.dim[0], t.dim[1], 1}, &in[i]));
        }
    }
    int id = hd_shlo_node(m, HD_IR_conv, 2, in, &y);
    hd_attr_set_int(m->g, id, "group", c.groups * c.batch_groups);
    const struct hd_tensor w = hd_shlo_shape(m, in[1]);
    hd_attr_set_ints(m->g, id, "kernel_shape", w.rank - 2, w.dim + 2);
    if (c.sp) hd_attr_set_ints(m->g, id, "strides", c.sp, c.stride);
    if (c.sp) hd_attr_set_ints(m->g, id, "dilations", c.sp, c.rhs);
    TRY(hd_shlo_done(m, id));
    if (!c.sp) {
        struct hd_tensor t = hd_shlo_shape(m, y);
        TRY(hd_shlo_reshape(m, y, 2, t.dim, &y));
    }
    for (int i = 0; i < c.sp + 2; i++) back[c.out[i]] = i;
    TRY(hd_shlo_transpose(m, y, c.sp + 2, back, &y));
    if (!r.quantised) TRY(hd_shlo_cast(m, y, r.dtype, &y));
    return hd_shlo_out(m, 0, y);
}

/* x, scale, offset, mean, variance */
hd_status hd_shlo_op_batch_norm(struct hd_shlo *m) {
    int64_t axis = hd_shlo_int(m, "feature_index", 1), perm[HD_MAX_RANK];
    const char *epsilon = hd_mlir_attr(m->op, "epsilon");
    float e = 0;
    int in[5];
    for (size_t i = 0; i < 5; i++) TRY(hd_shlo_in(m, i, &in[i]));
    int rank = hd_shlo_shape(m, in[0]).rank;
    if (rank < 2 || axis < 0 || axis >= rank || !epsilon || sscanf(epsilon, "%f", &e) != 1)
        return hd_shlo_bad(m, HD_INVALID, "its feature_index or epsilon");
    for (int i = 0; i < rank; i++) perm[i] = i;
    perm[axis] = 1, perm[1] = axis;
    TRY(hd_shlo_transpose(m, in[0], rank, perm, &in[0]));
    int id = hd_shlo_node(m, HD_IR_batchnorm, 5, in, &in[0]);
    hd_attr_set_float(m->g, id, "epsilon", e);
    TRY(hd_shlo_done(m, id));
    TRY(hd_shlo_transpose(m, in[0], rank, perm, &in[0]));
    return hd_shlo_out(m, 0, in[0]);
}
