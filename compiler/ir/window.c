/* Window attributes -> checked geometry. */
#include "compiler/ir/window.h"

#include <string.h>

#include "runtime/base/num.h"

static const int64_t WINDOW_MAX = INT64_C(1)
                                  << 24; /* keeps every product below far from overflow */

#define BAD(ctx, n, fmt, ...)                                                                      \
    hd_fail((ctx), HD_INVALID, "node '%s' (%s): " fmt, (n)->name, hd_ir_ops[(n)->op].name,         \
            __VA_ARGS__)

/* Reads `count` ints; absent = def each. */
static hd_status ints(hd_ctx *ctx, const struct hd_node *n, const char *name, int count,
                      int64_t def, int64_t min, int64_t *out) {
    const struct hd_attr *a = hd_attr_get(n, name);
    int got = hd_attr_ints(n, name, out, count, def);
    if (a && a->kind != HD_ATTR_INTS)
        return BAD(ctx, n, "attribute %s is not a list of integers", name);
    if (a && got != count)
        return BAD(ctx, n, "attribute %s has %d values, want %d", name, got, count);
    for (int i = 0; i < count; i++)
        if (out[i] < min || out[i] > WINDOW_MAX)
            return BAD(ctx, n, "%s[%d] is %lld, allowed %lld..%lld", name, i, (long long)out[i],
                       (long long)min, (long long)WINDOW_MAX);
    return HD_OK;
}

enum auto_pad { NOT_SET, SAME_UPPER, SAME_LOWER };

static hd_status auto_pad(hd_ctx *ctx, const struct hd_node *n, enum auto_pad *out) {
    const struct hd_attr *a = hd_attr_get(n, "auto_pad");
    const char *s = !a ? "NOTSET" : a->kind == HD_ATTR_STRING ? a->s : "?";
    *out = !strcmp(s, "SAME_UPPER") ? SAME_UPPER : !strcmp(s, "SAME_LOWER") ? SAME_LOWER : NOT_SET;
    if (*out != NOT_SET || !strcmp(s, "NOTSET") || !strcmp(s, "VALID")) return HD_OK;
    return BAD(ctx, n, "auto_pad '%s', allowed NOTSET, SAME_UPPER, SAME_LOWER, VALID", s);
}

/* Everything but pads and out. */
static hd_status attributes(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                            const int64_t *kernel, struct hd_window_nd *v) {
    int sp = x->rank - 2;
    if (sp < 1)
        return BAD(ctx, n, "operand '%s' has rank %d, want 3 ([N,C,W]), 4 ([N,C,H,W]) or more",
                   x->name, x->rank);
    *v = (struct hd_window_nd){.sp = sp, .n = x->dim[0], .c = x->dim[1]};
    bool global = hd_attr_int(n, "global", 0) != 0;
    for (int i = 0; i < sp; i++) {
        v->in[i] = x->dim[i + 2];
        v->kernel[i] = global ? v->in[i] : kernel ? kernel[i] : 1;
        if (global && (v->in[i] < 1 || v->in[i] > WINDOW_MAX))
            return BAD(ctx, n, "dimension %d of '%s' is %lld, allowed 1..%lld", i + 2, x->name,
                       (long long)v->in[i], (long long)WINDOW_MAX);
    }
    if (!global && (hd_attr_get(n, "kernel_shape") || !kernel))
        TRY(ints(ctx, n, "kernel_shape", sp, 0, 1, v->kernel));
    for (int i = 0; kernel && i < sp; i++)
        if (v->kernel[i] != kernel[i] || kernel[i] < 1 || kernel[i] > WINDOW_MAX)
            return BAD(ctx, n, "kernel_shape[%d] is %lld, weights have %lld", i,
                       (long long)v->kernel[i], (long long)kernel[i]);
    TRY(ints(ctx, n, "strides", sp, 1, 1, v->stride));
    return ints(ctx, n, "dilations", sp, 1, 1, v->dilation);
}

/* `total` pads: half before and the odd one behind, or in front. */
static void split_pads(int64_t total, bool odd_behind, int64_t *before, int64_t *after) {
    *before = odd_behind ? total / 2 : total - total / 2;
    *after = total - *before;
}

static int64_t extent(const struct hd_window_nd *v, int i) {
    return (v->kernel[i] - 1) * v->dilation[i] + 1;
}

static hd_status explicit_pads(hd_ctx *ctx, const struct hd_node *n, struct hd_window_nd *v) {
    int64_t pads[2 * HD_MAX_SPATIAL];
    TRY(ints(ctx, n, "pads", 2 * v->sp, 0, 0, pads));
    memcpy(v->before, pads, (size_t)v->sp * sizeof *pads);
    memcpy(v->after, pads + v->sp, (size_t)v->sp * sizeof *pads);
    return HD_OK;
}

static hd_status out_size(hd_ctx *ctx, const struct hd_node *n, struct hd_window_nd *v, int i) {
    int64_t padded = v->in[i] + v->before[i] + v->after[i], s = v->stride[i];
    int64_t span = padded - extent(v, i);
    if (span < 0)
        return BAD(ctx, n,
                   "window of %lld (kernel %lld, dilation %lld) exceeds the padded input of %lld",
                   (long long)extent(v, i), (long long)v->kernel[i], (long long)v->dilation[i],
                   (long long)padded);
    bool up = hd_attr_int(n, "ceil_mode", 0) != 0;
    int64_t out = (up ? hd_ceil_div(span, s) : span / s) + 1;
    /* no window may start in the padding behind */
    if (up && (out - 1) * s >= v->in[i] + v->before[i]) out--;
    v->out[i] = out;
    return HD_OK;
}

hd_status hd_window_nd_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                           const int64_t *kernel, struct hd_window_nd *out) {
    struct hd_window_nd v;
    enum auto_pad pad = NOT_SET;
    TRY(attributes(ctx, n, x, kernel, &v));
    TRY(auto_pad(ctx, n, &pad));
    if (pad == NOT_SET) TRY(explicit_pads(ctx, n, &v));
    for (int i = 0; i < v.sp; i++) {
        if (pad != NOT_SET) { /* as many results as strides fit the image */
            int64_t last = (hd_ceil_div(v.in[i], v.stride[i]) - 1) * v.stride[i];
            split_pads(hd_max(last + extent(&v, i) - v.in[i], 0), pad == SAME_UPPER, &v.before[i],
                       &v.after[i]);
        }
        TRY(out_size(ctx, n, &v, i));
    }
    *out = v;
    return HD_OK;
}

hd_status hd_window_transposed_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                                   const int64_t *kernel, struct hd_window_nd *out) {
    struct hd_window_nd v;
    enum auto_pad pad = NOT_SET;
    int64_t extra[HD_MAX_SPATIAL], shape[HD_MAX_SPATIAL];
    bool given = hd_attr_get(n, "output_shape") != NULL;
    TRY(attributes(ctx, n, x, kernel, &v));
    TRY(auto_pad(ctx, n, &pad));
    TRY(ints(ctx, n, "output_padding", v.sp, 0, 0, extra));
    TRY(ints(ctx, n, "output_shape", v.sp, 1, 1, shape));
    if (pad == NOT_SET && !given) TRY(explicit_pads(ctx, n, &v));
    for (int i = 0; i < v.sp; i++) {
        int64_t full = (v.in[i] - 1) * v.stride[i] + extent(&v, i) + extra[i];
        if (pad != NOT_SET || given) {
            v.out[i] = given ? shape[i] : v.in[i] * v.stride[i];
            split_pads(hd_max(full - v.out[i], 0), pad == SAME_UPPER, &v.before[i], &v.after[i]);
        } else {
            v.out[i] = full - v.before[i] - v.after[i];
        }
        if (v.in[i] < 1 || v.out[i] < 1)
            return BAD(ctx, n, "input of %lld and pads %lld and %lld leave an output of %lld",
                       (long long)v.in[i], (long long)v.before[i], (long long)v.after[i],
                       (long long)v.out[i]);
    }
    *out = v;
    return HD_OK;
}

/* The window of a convolution's weights; NULL: the node has none. */
static const int64_t *weights_window(const hd_graph *g, const struct hd_node *n) {
    switch (n->op) {
    case HD_IR_conv:
    case HD_IR_convinteger:
    case HD_IR_convtranspose:
    case HD_IR_deformconv:
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
        return g->tensors[n->in[1]].dim + 2;
    default:
        return NULL;
    }
}

hd_status hd_window_resolve(hd_ctx *ctx, hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    const int64_t *kernel = weights_window(g, n);
    int sp = kernel ? g->tensors[n->in[0]].rank - 2 : 0;
    bool global = hd_attr_get(n, "global") != NULL, one = true;
    for (int i = 0; i < sp; i++) one = one && kernel[i] == 1; /* which is the default */
    if (!one && !hd_attr_get(n, "kernel_shape"))
        hd_attr_set_ints(g, node, "kernel_shape", sp, kernel);
    if (n->op == HD_IR_convtranspose || (!global && !hd_attr_get(n, "auto_pad"))) return HD_OK;
    struct hd_window_nd v;
    int64_t pads[2 * HD_MAX_SPATIAL];
    TRY(hd_window_nd_get(ctx, n, &g->tensors[n->in[0]], kernel, &v));
    memcpy(pads, v.before, (size_t)v.sp * sizeof *pads);
    memcpy(pads + v.sp, v.after, (size_t)v.sp * sizeof *pads);
    hd_attr_remove(g, node, "auto_pad");
    hd_attr_remove(g, node, "global");
    if (global)
        hd_attr_set_ints(g, node, "kernel_shape", v.sp, v.kernel);
    else
        hd_attr_set_ints(g, node, "pads", 2 * v.sp, pads);
    return HD_OK;
}

hd_status hd_window_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const int64_t *kernel, struct hd_window *out) {
    struct hd_window_nd v;
    bool transposed = n->op == HD_IR_convtranspose || n->op == HD_IR_qconvtranspose;
    TRY(transposed ? hd_window_transposed_get(ctx, n, x, kernel, &v)
                   : hd_window_nd_get(ctx, n, x, kernel, &v));
    if (v.sp > 2)
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "node '%s' (%s): operand '%s' has rank %d, allowed 3 ([N,C,W]) and 4 "
                       "([N,C,H,W])",
                       n->name, hd_ir_ops[n->op].name, x->name, x->rank);
    int l = v.sp - 1;
    *out = (struct hd_window){.n = v.n,
                              .c = v.c,
                              .w = v.in[l],
                              .ow = v.out[l],
                              .kw = v.kernel[l],
                              .sx = v.stride[l],
                              .dx = v.dilation[l],
                              .pl = v.before[l],
                              .pr = v.after[l],
                              .h = 1,
                              .oh = 1,
                              .kh = 1,
                              .sy = 1,
                              .dy = 1};
    if (l == 0) return HD_OK;
    out->h = v.in[0], out->oh = v.out[0], out->kh = v.kernel[0], out->sy = v.stride[0];
    out->dy = v.dilation[0], out->pt = v.before[0], out->pb = v.after[0];
    return HD_OK;
}

bool hd_window_inside(const struct hd_window *v) {
    return !v->pt && !v->pl && !v->pb && !v->pr &&
           (v->oh - 1) * v->sy + (v->kh - 1) * v->dy < v->h &&
           (v->ow - 1) * v->sx + (v->kw - 1) * v->dx < v->w;
}
