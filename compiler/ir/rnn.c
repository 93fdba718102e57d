/* Attributes and operand shapes of recurrent operations -> checked sizes. */
#include "compiler/ir/rnn.h"

#include <string.h>

#define BAD(ctx, n, fmt, ...)                                                                      \
    hd_fail((ctx), HD_INVALID, "node '%s' (%s): " fmt, (n)->name, hd_ir_ops[(n)->op].name,         \
            __VA_ARGS__)

static const struct {
    const char *name;
    bool has_alpha, has_beta;
    float alpha, beta;
} acts[] = {
#define X(name, value, alpha, beta) {#name, (alpha) != 0, (beta) != 0, alpha, beta},
    HD_RNN_ACT_LIST(X)
#undef X
};

static int lower(int c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* The name's end; -1 in *out when it is none. Case does not matter. */
static const char *act_name(const char *s, int *out) {
    const char *end = strchr(s, ',');
    size_t len = end ? (size_t)(end - s) : strlen(s);
    *out = -1;
    for (int i = 0; i < HD_RNN_ACTS; i++) {
        size_t k = 0;
        while (k < len && lower(s[k]) == lower(acts[i].name[k])) k++;
        if (k == len && !acts[i].name[k]) *out = i;
    }
    return s + len;
}

/* Values of alpha and beta are taken in order, by those functions that have them. */
static hd_status functions(hd_ctx *ctx, const struct hd_node *n, struct hd_rnn *r) {
    int per_direction = r->gates == 4 ? 3 : r->gates == 3 ? 2 : 1, a = 0, b = 0;
    static const char *const defaults[] = {"Tanh", "Sigmoid,Tanh", "Sigmoid,Tanh,Tanh"};
    const struct hd_attr *alpha = hd_attr_get(n, "activation_alpha"),
                         *beta = hd_attr_get(n, "activation_beta");
    const char *list = hd_attr_string(n, "activations", NULL), *s = list;
    int n_alpha = alpha && alpha->kind == HD_ATTR_FLOATS ? alpha->n : 0;
    int n_beta = beta && beta->kind == HD_ATTR_FLOATS ? beta->n : 0;
    for (int i = 0; i < r->directions * per_direction; i++) {
        int act = -1;
        if (!list && i % per_direction == 0) s = defaults[per_direction - 1];
        if (*s) s = act_name(s, &act);
        if (act < 0)
            return BAD(ctx, n,
                       "activations '%s': want %d of Relu, Tanh, Sigmoid, Affine, LeakyRelu, "
                       "ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus",
                       list ? list : "", r->directions * per_direction);
        s += *s == ',';
        struct hd_rnn_fn *fn = &r->fn[i / per_direction * 3 + i % per_direction];
        *fn = (struct hd_rnn_fn){(enum hd_rnn_act)act, acts[act].alpha, acts[act].beta};
        if (acts[act].has_alpha && a < n_alpha) fn->alpha = alpha->floats[a++];
        if ((acts[act].has_beta || act == HD_RNN_Affine) && b < n_beta)
            fn->beta = beta->floats[b++];
    }
    return HD_OK;
}

static hd_status want_shape(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *t,
                            int rank, int64_t a, int64_t b, int64_t c) {
    int64_t want[3] = {a, b, c};
    if (!t) return HD_OK;
    bool ok = t->rank == rank;
    for (int i = 0; ok && i < rank; i++) ok = t->dim[i] == want[i];
    if (ok) return HD_OK;
    char text[80];
    int len = 0;
    for (int i = 0; i < rank; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "%s%lld", i ? "," : "",
                        (long long)want[i]);
    char got[200] = "";
    len = 0;
    for (int i = 0; i < t->rank; i++)
        len += snprintf(got + len, sizeof got - (size_t)len, "%s%lld", i ? "," : "",
                        (long long)t->dim[i]);
    return BAD(ctx, n, "operand '%s' is [%s], want [%s]", t->name, got, text);
}

hd_status hd_rnn_get(hd_ctx *ctx, const struct hd_node *n, const struct hd_tensor *const *in,
                     struct hd_rnn *out) {
    const struct hd_tensor *x = in[0], *w = in[1], *r = in[2];
    struct hd_rnn v = {.gates = n->op == HD_IR_lstm  ? 4
                                : n->op == HD_IR_gru ? 3
                                                     : 1,
                       .batch_first = hd_attr_int(n, "layout", 0) != 0,
                       .clip = hd_attr_float(n, "clip", 0)};
    const char *direction = hd_attr_string(n, "direction", "forward");
    v.directions = !strcmp(direction, "bidirectional") ? 2 : 1;
    v.reverse = !strcmp(direction, "reverse");
    if (v.directions == 1 && !v.reverse && strcmp(direction, "forward"))
        return BAD(ctx, n, "direction '%s', allowed forward, reverse, bidirectional", direction);
    if (x->rank != 3 || r->rank != 3)
        return BAD(ctx, n, "operands '%s' and '%s' have ranks %d and %d, want 3", x->name, r->name,
                   x->rank, r->rank);
    v.steps = x->dim[v.batch_first];
    v.batch = x->dim[!v.batch_first];
    v.input = x->dim[2];
    v.hidden = hd_attr_int(n, "hidden_size", r->dim[2]);
    if (v.hidden < 1 || v.hidden > INT32_MAX || v.hidden != r->dim[2])
        return BAD(ctx, n, "hidden_size %lld, '%s' has %lld", (long long)v.hidden, r->name,
                   (long long)r->dim[2]);
    if (!(v.clip >= 0)) return BAD(ctx, n, "clip %g, want 0 or more", (double)v.clip);
    int64_t d = v.directions, h = v.hidden;
    TRY(want_shape(ctx, n, w, 3, d, v.gates * h, v.input));
    TRY(want_shape(ctx, n, r, 3, d, v.gates * h, h));
    TRY(want_shape(ctx, n, in[3], 2, d, 2 * v.gates * h, 0));
    TRY(want_shape(ctx, n, in[4], 1, v.batch, 0, 0));
    for (int i = 5; i < (v.gates == 4 ? 7 : 6); i++)
        TRY(v.batch_first ? want_shape(ctx, n, in[i], 3, v.batch, d, h)
                          : want_shape(ctx, n, in[i], 3, d, v.batch, h));
    if (v.gates == 4) TRY(want_shape(ctx, n, in[7], 2, d, 3 * h, 0));
    TRY(functions(ctx, n, &v));
    *out = v;
    return HD_OK;
}
