/* Shape and type inference: the driver and the helpers of the hd_infer_<op> functions. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/axes.h"
#include "compiler/ir/window.h"

/* ---- helpers ---- */

void hd_infer_shape_text(const struct hd_tensor *t, char *out, size_t bytes) {
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < t->rank && n < bytes; i++)
        n += (size_t)snprintf(out + n, bytes - n, "%s%lld", i ? "," : "", (long long)t->dim[i]);
}

hd_status hd_infer_later(struct infer *c) {
    c->later = true;
    return HD_OK;
}

hd_status hd_infer_int_list(struct infer *c, int i, int64_t *out, int max, int *out_n) {
    const struct hd_tensor *t = in(c, i);
    *out_n = 0;
    if (!t) return HD_OK;
    TRY(hd_infer_want_types(c, i, 1u << HD_I32 | 1u << HD_I64));
    if (t->rank > 1)
        return BAD(c, "operand %d ('%s') has rank %d, want a list", i, t->name, t->rank);
    int64_t n = hd_tensor_elems(t);
    if (n > max)
        return BAD(c, "operand %d ('%s') has %lld values, at most %d", i, t->name, (long long)n,
                   max);
    *out_n = -1;
    if (n && !t->data) return HD_OK;
    for (int64_t k = 0; k < n; k++)
        out[k] = t->dtype == HD_I64 ? ((const int64_t *)t->data)[k] : ((const int32_t *)t->data)[k];
    *out_n = (int)n;
    return HD_OK;
}

void hd_infer_unknown(struct infer *c, int o) {
    if (o < c->n->n_out) c->out[o].rank = -1;
}

void hd_infer_like(struct infer *c, int o, const struct hd_tensor *t) {
    hd_infer_set(c, o, t->dtype, t->rank, t->dim);
}

void hd_infer_set(struct infer *c, int o, hd_dtype t, int rank, const int64_t *dim) {
    if (o >= c->n->n_out) return;
    c->out[o].dtype = t;
    c->out[o].rank = rank;
    if (rank > 0) memcpy(c->out[o].dim, dim, (size_t)rank * sizeof *dim);
}

hd_status hd_infer_want_type(struct infer *c, int i, hd_dtype t) {
    return hd_infer_want_types(c, i, 1u << t);
}

hd_status hd_infer_want_types(struct infer *c, int i, unsigned set) {
    const struct hd_tensor *x = in(c, i);
    if (!x || set >> x->dtype & 1) return HD_OK;
    char s[256] = "";
    size_t n = 0;
    for (int t = 0; t < HD_DTYPES; t++)
        if (set >> t & 1)
            n += (size_t)snprintf(s + n, sizeof s - n, "%s%s",
                                  !n               ? ""
                                  : set >> (t + 1) ? ", "
                                                   : " and ",
                                  hd_dtype_name((hd_dtype)t));
    return BAD(c, "operand %d ('%s') is %s, allowed %s", i, x->name, hd_dtype_name(x->dtype), s);
}

/* Operations on bytes that also compute on i16. */
static bool takes_i16(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qgemm:
#define QPAIR(name, ...) case HD_IR_##name:
#include "compiler/ir/qpair.def"
    case HD_IR_qrescale:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
    case HD_IR_qmaxpool:
        return true;
    default:
        return false;
    }
}

hd_status hd_infer_want_byte(struct infer *c, int i) {
    unsigned set = 1u << HD_I8 | 1u << HD_U8;
    return hd_infer_want_types(c, i, takes_i16(c->n->op) ? set | 1u << HD_I16 : set);
}

hd_status hd_infer_want_rank(struct infer *c, int i, int rank) {
    const struct hd_tensor *x = in(c, i);
    if (!x || x->rank == rank) return HD_OK;
    return BAD(c, "operand %d ('%s') has rank %d, want %d", i, x->name, x->rank, rank);
}

hd_status hd_infer_want_vector(struct infer *c, int i, int64_t n) {
    const struct hd_tensor *x = in(c, i);
    if (!x || (x->rank == 1 && x->dim[0] == n)) return HD_OK;
    char s[128];
    hd_infer_shape_text(x, s, sizeof s);
    return BAD(c, "operand %d ('%s') is [%s], want [%lld]", i, x->name, s, (long long)n);
}

hd_status hd_infer_axis(struct infer *c, const char *name, int64_t def, int rank, int64_t *out) {
    return hd_infer_norm_axis(c, hd_attr_int(c->n, name, def), rank, out);
}

hd_status hd_infer_norm_axis(struct infer *c, int64_t axis, int rank, int64_t *out) {
    *out = axis < 0 ? axis + rank : axis;
    if (axis >= -rank && axis < rank) return HD_OK;
    return BAD(c, "axis %lld, allowed %d..%d", (long long)axis, -rank, rank - 1);
}

/* Dims [0, na) and [0, nb) broadcast, aligned at the end, into output 0. */
hd_status hd_infer_broadcast(struct infer *c, const int64_t *a, int na, const int64_t *b, int nb) {
    int rank = na > nb ? na : nb;
    for (int i = 0; i < rank; i++) {
        int64_t da = i < rank - na ? 1 : a[i - (rank - na)],
                db = i < rank - nb ? 1 : b[i - (rank - nb)];
        if (da != db && da != 1 && db != 1)
            return BAD(c,
                       "operands '%s' and '%s' do not broadcast: %lld against %lld in dimension %d",
                       in(c, 0)->name, in(c, 1)->name, (long long)da, (long long)db, i);
        c->out->dim[i] = da == 1 ? db : da;
    }
    c->out->rank = rank;
    return HD_OK;
}

/* Output type of a q operation: attribute "to", else the operand's. */
hd_status hd_infer_q_type(struct infer *c) {
    const struct hd_attr *a = hd_attr_get(c->n, "to");
    int t = a && a->kind == HD_ATTR_STRING ? hd_dtype_by_name(a->s) : (int)in(c, 0)->dtype;
    bool wide = takes_i16(c->n->op);
    if (t != HD_I8 && t != HD_U8 && !(wide && t == HD_I16))
        return BAD(c, "attribute to is '%s', allowed %s", a ? a->s : "?",
                   wide ? "i8, u8 and i16" : "i8 and u8");
    int64_t min = hd_dtype_least((hd_dtype)t), max = hd_dtype_most((hd_dtype)t);
    int64_t lo = hd_attr_int(c->n, "lo", min), hi = hd_attr_int(c->n, "hi", max);
    if (lo < min || hi > max || lo > hi)
        return BAD(c, "lo %lld, hi %lld: want %lld <= lo <= hi <= %lld", (long long)lo,
                   (long long)hi, (long long)min, (long long)max);
    static const char *const zps[] = {"x_zp", "y_zp", "a_zp", "b_zp"};
    wide = t == HD_I16 || in(c, 0)->dtype == HD_I16 || (in(c, 1) && in(c, 1)->dtype == HD_I16);
    for (int i = 0; i < 4; i++) {
        int64_t zp = hd_attr_int(c->n, zps[i], 0);
        int64_t least = wide ? -32768 : -128, most = wide ? 32767 : 255;
        if (zp < least || zp > most)
            return BAD(c, "%s is %lld, allowed %lld..%lld", zps[i], (long long)zp, (long long)least,
                       (long long)most);
    }
    c->out->dtype = (hd_dtype)t;
    return HD_OK;
}

/* ---- driver ---- */

typedef hd_status infer_fn(struct infer *c);
static infer_fn *const table[HD_IR_OPS] = {
#define OP(name, ...) [HD_IR_##name] = hd_infer_##name,
#include "compiler/ir/ops.def"
};

hd_status hd_shape_check(hd_ctx *ctx, const char *what, hd_dtype t, int rank, const int64_t *dim) {
    int64_t bytes = (int64_t)hd_dtype_bytes(t);
    if (rank < 0 || rank > HD_MAX_RANK)
        return hd_fail(ctx, HD_UNSUPPORTED, "'%s': rank %d, at most %d", what, rank, HD_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return hd_fail(ctx, HD_INVALID, "'%s': dimension %d is %lld, want 0 or more", what, i,
                           (long long)dim[i]);
        if (dim[i] > HD_MAX_TENSOR_BYTES || __builtin_mul_overflow(bytes, dim[i], &bytes) ||
            bytes > HD_MAX_TENSOR_BYTES)
            return hd_fail(
                ctx, HD_UNSUPPORTED,
                "'%s': dimension %d is %lld, which makes the tensor larger than the limit of "
                "%lld bytes",
                what, i, (long long)dim[i], (long long)HD_MAX_TENSOR_BYTES);
    }
    return HD_OK;
}

/* *out_ready: every operand is there and known. */
static hd_status check_operands(const struct infer *c, bool *out_ready) {
    const struct hd_node *n = c->n;
    const struct hd_ir_op_info *op = &hd_ir_ops[n->op];
    if (n->n_in < op->min_in || n->n_in > op->max_in || n->n_out < 1 || n->n_out > op->max_out)
        return BAD(c, "%d inputs and %d outputs, want %d..%d and 1..%d", n->n_in, n->n_out,
                   op->min_in, op->max_in, op->max_out);
    *out_ready = true;
    for (int i = 0; i < n->n_in; i++) {
        if (!in(c, i) && i < op->min_in) return BAD(c, "input %d is left out, but required", i);
        if (in(c, i) && !in(c, i)->known) *out_ready = false;
    }
    return HD_OK;
}

hd_status hd_infer_outputs(hd_ctx *ctx, const hd_graph *g, const struct hd_tensor *t,
                           const struct hd_node *n, struct hd_tensor *out) {
    struct infer c = {.ctx = ctx, .g = g, .t = t, .n = n, .out = out};
    bool ready = false;
    memset(out, 0, (size_t)n->n_out * sizeof *out);
    TRY(check_operands(&c, &ready));
    if (!ready) return HD_OK;
    if (hd_axes_is_by_name(n)) {
        TRY(hd_axes_by_name(&c));
    } else {
        TRY(table[n->op](&c));
        TRY(hd_axes_outputs(&c));
    }
    for (int i = 0; i < n->n_out && !c.later; i++) {
        if (out[i].rank < 0) { /* hd_infer_unknown */
            out[i] = (struct hd_tensor){0};
            continue;
        }
        const char *name = n->out[i] < 0 ? "?" : g->tensors[n->out[i]].name;
        TRY(hd_note(ctx, hd_shape_check(ctx, name, out[i].dtype, out[i].rank, out[i].dim),
                    "output of node '%s' (%s)", n->name, hd_ir_ops[n->op].name));
        out[i].known = true;
    }
    return HD_OK;
}

hd_status hd_graph_infer_node(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    struct hd_tensor few[4], *out = n->n_out <= 4 ? few : calloc((size_t)n->n_out, sizeof *out);
    if (!out) return hd_fail(ctx, HD_NOMEM, "node '%s': no memory for its outputs", n->name);
    hd_status s = hd_infer_outputs(ctx, g, g->tensors, n, out);
    for (int i = 0; s == HD_OK && i < n->n_out; i++) {
        struct hd_tensor *y = n->out[i] < 0 ? NULL : &g->tensors[n->out[i]];
        if (!y || (!out[i].known && g->specialised)) continue; /* keeps the shape of the run */
        y->dtype = out[i].dtype;
        bool same = y->known && y->rank == out[i].rank &&
                    !memcmp(y->dim, out[i].dim, (size_t)y->rank * sizeof *y->dim);
        for (int d = 0; d < HD_MAX_RANK; d++) /* a name that the node says nothing of stays */
            if (out[i].axis[d] || !same) y->axis[d] = out[i].axis[d];
        y->rank = out[i].rank;
        memcpy(y->dim, out[i].dim, sizeof y->dim);
        y->known = out[i].known;
    }
    if (s == HD_OK && n->n_out && out[0].known) s = hd_window_resolve(ctx, g, node);
    if (out != few) free(out);
    return s;
}

hd_status hd_graph_infer(hd_ctx *ctx, hd_graph *g) {
    hd_arena *a = hd_arena_create();
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    hd_status s = HD_OK;
    for (size_t i = 0; i < n && s == HD_OK; i++) s = hd_graph_infer_node(ctx, g, order[i]);
    hd_arena_destroy(a);
    return s;
}
