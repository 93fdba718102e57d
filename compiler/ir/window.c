/* Window attributes -> checked geometry. */
#include "compiler/ir/window.h"

#include "runtime/base/num.h"

static const int64_t WINDOW_MAX = INT64_C(1)
                                  << 24; /* keeps every product below far from overflow */

/* Reads `count` ints; absent = def each. */
static hd_status ints(hd_ctx *ctx, const struct hd_node *n, const char *name, int count,
                      int64_t def, int64_t min, int64_t *out) {
    const struct hd_attr *a = hd_attr_get(n, name);
    int got = hd_attr_ints(n, name, out, count, def);
    if (a && a->kind != HD_ATTR_INTS)
        return hd_fail(ctx, HD_INVALID, "node '%s' (%s): attribute %s is not a list of integers",
                       n->name, hd_ir_ops[n->op].name, name);
    if (a && got != count)
        return hd_fail(ctx, HD_INVALID, "node '%s' (%s): attribute %s has %d values, want %d",
                       n->name, hd_ir_ops[n->op].name, name, got, count);
    for (int i = 0; i < count; i++)
        if (out[i] < min || out[i] > WINDOW_MAX)
            return hd_fail(ctx, HD_INVALID, "node '%s' (%s): %s[%d] is %lld, allowed %lld..%lld",
                           n->name, hd_ir_ops[n->op].name, name, i, (long long)out[i],
                           (long long)min, (long long)WINDOW_MAX);
    return HD_OK;
}

static hd_status out_size(hd_ctx *ctx, const struct hd_node *n, int64_t in, int64_t before,
                          int64_t after, int64_t k, int64_t d, int64_t s, int64_t *out) {
    int64_t span = in + before + after - ((k - 1) * d + 1);
    if (span < 0)
        return hd_fail(
            ctx, HD_INVALID,
            "node '%s' (%s): window of %lld (kernel %lld, dilation %lld) exceeds the padded "
            "input of %lld",
            n->name, hd_ir_ops[n->op].name, (long long)((k - 1) * d + 1), (long long)k,
            (long long)d, (long long)(in + before + after));
    bool up = hd_attr_int(n, "ceil_mode", 0) != 0;
    *out = (up ? hd_ceil_div(span, s) : span / s) + 1;
    if (up && (*out - 1) * s >= in + before) --*out; /* no window may start in the padding behind */
    return HD_OK;
}

hd_status hd_window_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *x,
                        const int64_t *kernel, struct hd_window *out) {
    int sp = x->rank - 2;
    int64_t k[2] = {1, 1}, s[2], d[2], p[4];
    if (sp != 1 && sp != 2)
        return hd_fail(
            ctx, sp == 3 ? HD_UNSUPPORTED : HD_INVALID,
            "node '%s' (%s): operand '%s' has rank %d, allowed 3 ([N,C,W]) and 4 ([N,C,H,W])",
            n->name, hd_ir_ops[n->op].name, x->name, x->rank);
    if (kernel)
        for (int i = 0; i < sp; i++) k[i] = kernel[i];
    if (hd_attr_get(n, "kernel_shape") || !kernel) TRY(ints(ctx, n, "kernel_shape", sp, 0, 1, k));
    for (int i = 0; kernel && i < sp; i++)
        if (k[i] != kernel[i] || k[i] < 1 || k[i] > WINDOW_MAX)
            return hd_fail(ctx, HD_INVALID,
                           "node '%s' (%s): kernel_shape[%d] is %lld, weights have %lld", n->name,
                           hd_ir_ops[n->op].name, i, (long long)k[i], (long long)kernel[i]);
    TRY(ints(ctx, n, "strides", sp, 1, 1, s));
    TRY(ints(ctx, n, "dilations", sp, 1, 1, d));
    TRY(ints(ctx, n, "pads", 2 * sp, 0, 0, p));
    struct hd_window v = {.n = x->dim[0],
                          .c = x->dim[1],
                          .w = x->dim[sp + 1],
                          .kw = k[sp - 1],
                          .sx = s[sp - 1],
                          .dx = d[sp - 1],
                          .pl = p[sp - 1],
                          .pr = p[2 * sp - 1],
                          .h = 1,
                          .kh = 1,
                          .sy = 1,
                          .dy = 1,
                          .oh = 1};
    TRY(out_size(ctx, n, v.w, v.pl, v.pr, v.kw, v.dx, v.sx, &v.ow));
    if (sp == 2) {
        v.h = x->dim[2], v.kh = k[0], v.sy = s[0], v.dy = d[0], v.pt = p[0], v.pb = p[2];
        TRY(out_size(ctx, n, v.h, v.pt, v.pb, v.kh, v.dy, v.sy, &v.oh));
    }
    *out = v;
    return HD_OK;
}
