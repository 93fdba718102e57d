/* Shapes of qlstm, qgru, qrnn, and their sizes and attributes read once and checked. */
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/rnn.h"

enum { X, W, R, BIAS, SCALE, INITIAL, INITIAL_C, OPERANDS };

static const char *const names[] = {"x", "w", "r", "bias", "scale", "initial_h", "initial_c"};

#define WRONG(ctx, n, fmt, ...)                                                                    \
    hd_fail((ctx), HD_INVALID, "node '%s' (%s): " fmt, (n)->name, hd_ir_ops[(n)->op].name,         \
            __VA_ARGS__)

static hd_status want(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *const *t, int i,
                      hd_dtype type, int64_t a, int64_t b, int64_t c) {
    char got[128] = "";
    if (!t[i]) return HD_OK;
    if (t[i]->rank == 3 && t[i]->dim[0] == a && t[i]->dim[1] == b && t[i]->dim[2] == c &&
        t[i]->dtype == type)
        return HD_OK;
    hd_infer_shape_text(t[i], got, sizeof got);
    return WRONG(ctx, n, "operand %s is %s[%s], want %s[%lld,%lld,%lld]", names[i],
                 hd_dtype_name(t[i]->dtype), got, hd_dtype_name(type), (long long)a, (long long)b,
                 (long long)c);
}

static hd_status attributes(hd_ctx *ctx, const struct hd_node *n, struct hd_qrnn *v) {
    const char *direction = hd_attr_string(n, "direction", "forward");
    const char *activation = hd_attr_string(n, "activation", "tanh");
    v->directions = !strcmp(direction, "bidirectional") ? 2 : 1;
    v->reverse = !strcmp(direction, "reverse");
    v->linear_before_reset = hd_attr_int(n, "linear_before_reset", 0) != 0;
    v->no_tanh = !strcmp(activation, "none");
    v->x_zp = (int32_t)hd_attr_int(n, "x_zp", 0);
    v->y_zp = (int32_t)hd_attr_int(n, "y_zp", 0);
    v->lo = (int32_t)hd_attr_int(n, "lo", v->y_signed ? -128 : 0);
    v->hi = (int32_t)hd_attr_int(n, "hi", v->y_signed ? 127 : 255);
    v->scale = hd_attr_float(n, "scale", 1);
    if (v->directions == 1 && !v->reverse && strcmp(direction, "forward"))
        return WRONG(ctx, n, "direction '%s', allowed forward, reverse, bidirectional", direction);
    if (v->gates == 1 && !v->no_tanh && strcmp(activation, "tanh"))
        return WRONG(ctx, n, "activation '%s', allowed tanh, none", activation);
    return HD_OK;
}

hd_status hd_qrnn_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *const *t,
                      struct hd_qrnn *out) {
    const struct hd_tensor *x = t[X], *r = t[R];
    const struct hd_attr *to = hd_attr_get(n, "to");
    int type = to && to->kind == HD_ATTR_STRING ? hd_dtype_by_name(to->s) : (int)x->dtype;
    struct hd_qrnn v = {.gates = n->op == HD_IR_qlstm  ? 4
                                 : n->op == HD_IR_qgru ? 3
                                                       : 1,
                        .x_signed = x->dtype == HD_I8,
                        .y_signed = type == HD_I8};
    TRY(attributes(ctx, n, &v));
    if (x->rank != 3 || r->rank != 3)
        return WRONG(ctx, n, "operands x and r have ranks %d and %d, want 3", x->rank, r->rank);
    v.steps = x->dim[0], v.batch = x->dim[1], v.input = x->dim[2], v.hidden = r->dim[2];
    if (v.hidden < 1 || v.hidden > INT32_MAX)
        return WRONG(ctx, n, "a state of %lld values", (long long)v.hidden);
    int64_t d = v.directions, gh = v.gates * v.hidden;
    TRY(want(ctx, n, t, W, HD_I8, d, gh, v.input));
    TRY(want(ctx, n, t, R, HD_I8, d, gh, v.hidden));
    TRY(want(ctx, n, t, BIAS, HD_I32, d, 2, gh));
    TRY(want(ctx, n, t, SCALE, HD_F32, d, 2, gh));
    hd_dtype state = v.gates == 3 ? HD_F32 : (hd_dtype)type;
    TRY(want(ctx, n, t, INITIAL, state, d, v.batch, v.hidden));
    if (v.gates == 4) TRY(want(ctx, n, t, INITIAL_C, HD_F32, d, v.batch, v.hidden));
    *out = v;
    return HD_OK;
}

static hd_status recur(struct infer *c) {
    const struct hd_tensor *t[OPERANDS];
    struct hd_qrnn v;
    for (int i = 0; i < OPERANDS; i++) t[i] = in(c, i);
    TRY(hd_infer_want_byte(c, X));
    TRY(hd_infer_q_type(c));
    hd_dtype type = c->out->dtype;
    TRY(hd_qrnn_get(c->ctx, c->n, t, &v));
    hd_infer_set(c, 0, type, 4, (int64_t[]){v.steps, v.directions, v.batch, v.hidden});
    hd_infer_set(c, 1, HD_F32, 3, (int64_t[]){v.directions, v.batch, v.hidden});
    return HD_OK;
}

hd_status hd_infer_qlstm(struct infer *c) {
    return recur(c);
}
hd_status hd_infer_qgru(struct infer *c) {
    return recur(c);
}
hd_status hd_infer_qrnn(struct infer *c) {
    return recur(c);
}
