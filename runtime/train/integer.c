/* Training through the integers of a quantised network: see hd_train_integers in train.h.
 *
 * The graph gets the network twice. The one of integers is what legalisation makes of the file; its
 * values are what the file computes on every device, bit for bit. The float one, as the file has
 * it, reads these values and gives the derivatives. Between the two a gradient goes straight:
 *
 *   weights     dequantise(quantise(state))   as the state's
 *   activation  dequantise(integer)           as that of the float value in front of the quantise
 *                                             of the file, where it lies in the range of the scale
 */
#include <math.h>
#include <string.h>

#include "compiler/compiler.h"
#include "runtime/base/num.h"
#include "runtime/train/ranges.h"

struct twins {
    struct hd_back *b;
    const hd_graph *legal;
    hd_arena *a;
    int *of; /* per tensor of legal: the tensor of b->g that has its value; -1 = none yet */
    struct hd_through_list *through;
    struct hd_ranges ranges;
    bool zeros; /* weights of 0 stay 0 */
    int now;    /* ones, a factor of each range: what its gradient is of */
};

/* ---- weights -------------------------------------------------------------------------------- */

/* A constant that the file stores as integers, with one reader, which takes it as weights. */
struct stored {
    int dequantize; /* the node */
    struct hd_tensor q, scale, zero, y;
    int axis;
};

static int channel(const struct stored *s, int64_t i) {
    if (hd_tensor_elems(&s->scale) == 1) return 0;
    for (int d = s->q.rank - 1; d > s->axis; d--) i /= s->q.dim[d];
    return (int)(i % s->q.dim[s->axis]);
}

static bool is_zero(const struct hd_tensor *t) {
    const char *v = t->data;
    for (size_t i = 0; i < hd_tensor_bytes(t); i++)
        if (v[i]) return false;
    return true;
}

/* Node n dequantises a constant of int8 or int32 around 0, by constant scales. */
static bool is_stored(const hd_graph *g, int n, struct stored *out) {
    const struct hd_node *d = &g->nodes[n];
    if (d->dead || d->op != HD_IR_dequantize || d->n_in < 3 || d->in[2] < 0) return false;
    *out = (struct stored){.dequantize = n, .q = g->tensors[d->in[0]]};
    out->scale = g->tensors[d->in[1]], out->zero = g->tensors[d->in[2]];
    out->y = g->tensors[d->out[0]];
    if (!out->q.data || !out->scale.data || !out->zero.data || !is_zero(&out->zero)) return false;
    out->axis = (int)hd_attr_int(d, "axis", 1);
    if (out->axis < 0) out->axis += out->q.rank;
    return (out->q.dtype == HD_I8 || out->q.dtype == HD_I32) && out->y.dtype == HD_F32 &&
           (hd_tensor_elems(&out->scale) == 1 || out->axis < out->q.rank);
}

static float float_of(const struct stored *s, int64_t i) {
    double v =
        s->q.dtype == HD_I8 ? ((const int8_t *)s->q.data)[i] : ((const int32_t *)s->q.data)[i];
    return (float)v * ((const float *)s->scale.data)[channel(s, i)];
}

/* As the graph quantises the state (quantised). */
static int32_t integer_of(const struct stored *s, float v, int64_t i) {
    float scale = ((const float *)s->scale.data)[channel(s, i)];
    if (s->q.dtype == HD_I8) return hd_requant(v / scale, 0, -128, 127);
    double q = rint((double)v / (double)scale);
    return (int32_t)(q < -2147483648.0 ? -2147483648.0 : q > 2147483647.0 ? 2147483647.0 : q);
}

/* The tensor of legal that is this constant, or its transpose, and no other is: only then does what
 * is trained go where the file's value went. */
static int find_twin(const struct twins *t, const struct stored *s, bool *transposed) {
    bool bias = s->q.dtype == HD_I32;
    const char *name[2] = {s->q.name, hd_sprintf(t->a, "%s.i8", s->q.name)};
    if (bias) name[0] = name[1] = hd_sprintf(t->a, "%s.i32", s->y.name);
    for (int i = 0; i < 2; i++) {
        int id = hd_tensor_by_name(t->legal, name[i]);
        const struct hd_tensor *x = id < 0 ? NULL : &t->legal->tensors[id];
        if (!x || !x->data || x->dtype != s->q.dtype ||
            hd_tensor_elems(x) != hd_tensor_elems(&s->q) ||
            hd_graph_users(t->legal, id, NULL, 0) != 1)
            continue;
        int64_t rows = s->q.dim[0], cols = s->q.rank == 2 ? s->q.dim[1] : 1;
        size_t size = s->q.dtype == HD_I8 ? 1 : 4, same = 0;
        *transposed = i == 1 && !bias && s->q.rank == 2;
        for (int64_t k = 0; k < hd_tensor_elems(x); k++) {
            int64_t to = *transposed ? k % cols * rows + k / cols : k;
            same += !memcmp((const char *)x->data + (size_t)to * size,
                            (const char *)s->q.data + (size_t)k * size, size);
        }
        if (same == (size_t)hd_tensor_elems(x)) return id;
    }
    return -1;
}

/* The stored integers as a function of the state. */
static int quantised(struct twins *t, const struct stored *s, int state) {
    struct hd_back *b = t->b;
    const struct hd_node d = b->g->nodes[s->dequantize];
    if (s->q.dtype == HD_I8) {
        int node = hd_b_start(b, HD_IR_quantize, 3, (int[]){state, d.in[1], d.in[2]}, 1);
        hd_b_int(b, node, "axis", s->axis);
        return hd_b_end(b, node);
    }
    int64_t dim[HD_MAX_RANK];
    for (int i = 0; i < s->q.rank; i++) dim[i] = i == s->axis ? s->q.dim[i] : 1;
    int scale = hd_b_cast(b, d.in[1], HD_F64), v = hd_b_cast(b, state, HD_F64);
    if (hd_tensor_elems(&s->scale) > 1) scale = hd_b_reshape(b, scale, s->q.rank, dim);
    v = hd_b(b, round, hd_b(b, div, v, scale));
    v = hd_b(b, clip, v, hd_b_number(b, HD_F64, -2147483648.0),
             hd_b_number(b, HD_F64, 2147483647.0));
    return hd_b_cast(b, v, HD_I32);
}

static int state_of(struct twins *t, const struct stored *s) {
    int64_t n = hd_tensor_elems(&s->q);
    float *v = hd_new_array(t->a, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        v[i] = float_of(s, i);
        int32_t q =
            s->q.dtype == HD_I8 ? ((const int8_t *)s->q.data)[i] : ((const int32_t *)s->q.data)[i];
        if (integer_of(s, v[i], i) != q) return -1; /* of more bits than a float has */
    }
    return hd_graph_const(t->b->g, hd_sprintf(t->a, "%s" HD_STATE_SUFFIX, s->q.name), HD_F32,
                          s->q.rank, s->q.dim, v);
}

/* The state where the file's weights are not 0: the rest has no gradient. */
static int without_zeros(struct twins *t, const struct stored *s, int state) {
    int64_t n = hd_tensor_elems(&s->q);
    float *v = hd_new_array(t->a, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = ((const int8_t *)s->q.data)[i] != 0;
    const char *name = hd_sprintf(t->a, "%s.stays", s->q.name);
    return hd_b(t->b, mul, state, hd_graph_const(t->b->g, name, HD_F32, s->q.rank, s->q.dim, v));
}

/* What the dequantize node reads becomes a function of a state, and so does its twin. */
static bool train_stored(struct twins *t, const struct stored *s, int *out_state) {
    static const int64_t swap[2] = {1, 0};
    bool transposed = false;
    hd_graph *g = t->b->g;
    int twin = find_twin(t, s, &transposed);
    if (twin < 0 || hd_graph_only_user(g, g->nodes[s->dequantize].out[0]) < 0) return false;
    if ((*out_state = state_of(t, s)) < 0) return false;
    t->b->prefix = s->q.name;
    int trained = t->zeros && s->q.dtype == HD_I8 ? without_zeros(t, s, *out_state) : *out_state;
    int q = quantised(t, s, trained);
    if (t->b->status != HD_OK) return false;
    g->nodes[s->dequantize].in[0] = q;
    t->of[twin] = transposed ? hd_b_transpose(t->b, q, swap) : q;
    hd_through_add(t->through, g->nodes[s->dequantize].out[0], trained);
    return true;
}

/* ---- the integers ------------------------------------------------------------------------- */

static int operand(struct twins *t, int id) {
    const struct hd_tensor *x = id < 0 ? NULL : &t->legal->tensors[id];
    if (!x) return -1;
    if (t->of[id] < 0 && x->data)
        t->of[id] = hd_graph_const(t->b->g, x->name, x->dtype, x->rank, x->dim, x->data);
    return t->of[id];
}

static hd_status copy_node(struct twins *t, const struct hd_node *n) {
    hd_graph *g = t->b->g;
    int *in = hd_new_array(t->a, int, (size_t)n->n_in + 1);
    int *out = hd_new_array(t->a, int, (size_t)n->n_out + 1);
    for (int i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].kind == HD_ATTR_GRAPH)
            return hd_fail(t->b->ctx, HD_UNSUPPORTED,
                           "node '%s' (%s): networks with branches or loops are not trained "
                           "through their integers",
                           n->name, hd_ir_ops[n->op].name);
    for (int i = 0; i < n->n_in; i++) in[i] = operand(t, n->in[i]);
    for (int i = 0; i < n->n_out; i++) {
        const struct hd_tensor *y = n->out[i] < 0 ? NULL : &t->legal->tensors[n->out[i]];
        out[i] = y ? hd_graph_tensor(g, y->name, y->dtype, y->rank, y->dim) : -1;
        if (y) t->of[n->out[i]] = out[i];
    }
    int id = hd_graph_node(g, n->op, n->name, n->n_in, in, n->n_out, out);
    hd_b_copy(t->b, id, n);
    return hd_graph_infer_node(t->b->ctx, g, id);
}

static hd_status copy_nodes(struct twins *t) {
    int *order = hd_new_array(t->a, int, t->legal->n_nodes + 1);
    size_t n = hd_graph_order(t->legal, order);
    for (size_t i = 0; i < t->legal->n_inputs; i++) t->of[t->legal->inputs[i]] = t->b->g->inputs[i];
    for (size_t i = 0; i < n; i++) TRY(copy_node(t, &t->legal->nodes[order[i]]));
    return HD_OK;
}

/* y = clip(x, lo, hi) where the range has factor 1: clip(x, k lo, k hi) + k (value - y), with a
 * factor k whose derivative is that of the scale, when `value` is what is left of x by rounding. In
 * the range that is the error of rounding, beyond it the end.
 * Source: Esser et al., arXiv:1902.08153. */
static int learned(struct twins *t, const struct hd_node *q, int value, int y, int lo, int hi) {
    struct hd_back *b = t->b;
    int range = t->ranges.n ? t->ranges.of[q->in[1]] : -1;
    if (range < 0) return y;
    int k = hd_b_reshape(b, hd_b_slice(b, t->now, 0, range, range + 1), 0, NULL);
    int node = hd_b_start(b, HD_IR_dequantize, 3, (int[]){value, q->in[1], q->in[2]}, 1);
    int error = hd_b(b, sub, hd_b_end(b, node), y);
    if (b->status != HD_OK) return -1;
    struct hd_tensor shape = hd_b_shape(b, y);
    hd_through_add(t->through, error, hd_b_filled(b, &shape, 0)); /* a constant of the step */
    int moved = hd_b(b, clip, q->in[0], hd_b(b, mul, k, lo), hd_b(b, mul, k, hi));
    return hd_b(b, add, moved, hd_b(b, mul, error, k));
}

/* The values between the ends of the range of a quantize node, whose integers are `value`; -1: not
 * of one constant scale. */
static int in_range(struct twins *t, const struct hd_node *q, int value) {
    const struct hd_tensor s = t->b->g->tensors[q->in[1]], z = t->b->g->tensors[q->in[2]];
    if (!s.data || !z.data || hd_tensor_elems(&s) != 1) return -1;
    bool has_sign = z.dtype == HD_I8;
    if (!has_sign && z.dtype != HD_U8) return -1;
    int zero = has_sign ? *(const int8_t *)z.data : *(const uint8_t *)z.data;
    float scale = *(const float *)s.data;
    int lo = hd_b_number(t->b, HD_F32, (double)((float)((has_sign ? -128 : 0) - zero) * scale));
    int hi = hd_b_number(t->b, HD_F32, (double)((float)((has_sign ? 127 : 255) - zero) * scale));
    return learned(t, q, value, hd_b(t->b, clip, q->in[0], lo, hi), lo, hi);
}

/* What dequantises the result of quantize node q reads the integers of the legal network, and gives
 * its gradient to what q reads. */
static hd_status link_activation(struct twins *t, int node) {
    hd_graph *g = t->b->g;
    const struct hd_node q = g->nodes[node];
    struct hd_tensor y = g->tensors[q.out[0]];
    int id = hd_tensor_by_name(t->legal, y.name), users[16];
    size_t n = hd_graph_users(g, q.out[0], users, 16);
    t->b->prefix = q.name;
    bool same = id >= 0 && t->of[id] >= 0 && t->legal->tensors[id].producer >= 0 &&
                t->legal->tensors[id].dtype == y.dtype &&
                hd_tensor_elems(&t->legal->tensors[id]) == hd_tensor_elems(&y);
    int value = same ? hd_b_like(t->b, t->of[id], q.out[0]) : q.out[0];
    int shadow = n > 16 ? -1 : in_range(t, &q, value);
    if (shadow < 0) return t->b->status;
    for (size_t i = 0; i < n && t->b->status == HD_OK; i++) {
        struct hd_node *d = &g->nodes[users[i]];
        if (d->op != HD_IR_dequantize) continue;
        d->in[0] = value;
        hd_through_add(t->through, d->out[0], shadow);
    }
    return t->b->status;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static bool is_weight(const hd_graph *g, const struct stored *s) {
    int user = hd_graph_only_user(g, g->nodes[s->dequantize].out[0]);
    for (int k = 0; user >= 0 && k < g->nodes[user].n_in; k++)
        if (g->nodes[user].in[k] == g->nodes[s->dequantize].out[0])
            return hd_takes_weights(&g->nodes[user], k);
    return false;
}

static void add_ranges(struct twins *t, struct hd_trained *out) {
    int64_t n = t->ranges.n;
    float *v = hd_new_array(t->a, float, (size_t)n);
    out->ranges = out->n, out->n_ranges = (int)n;
    out->w[out->n++] = hd_graph_const(t->b->g, HD_RANGES_STATE, HD_F32, 1, &n, v);
    for (int64_t i = 0; i < n; i++) v[i] = 1;
    out->ranges_now = t->now = hd_graph_const(t->b->g, "ranges.now", HD_F32, 1, &n, v);
}

static hd_status make(struct twins *t, struct hd_trained *out) {
    hd_graph *g = t->b->g;
    size_t n = g->n_nodes;
    for (size_t i = 0; i < t->legal->n_tensors; i++) t->of[i] = -1;
    for (size_t i = 0; i < n; i++) {
        struct stored s;
        if (!is_stored(g, (int)i, &s) || !is_weight(g, &s)) continue;
        int state = -1;
        if (train_stored(t, &s, &state))
            out->w[out->n++] = state;
        else
            out->frozen++;
        TRY(t->b->status);
    }
    if (!out->n)
        return hd_fail(
            t->b->ctx, HD_INVALID,
            "%s: no integer weights to train: int8 constants, dequantised around 0, that "
            "a convolution or product reads; `heddle quantize` makes such a file",
            g->name);
    if (t->ranges.n) add_ranges(t, out);
    TRY(copy_nodes(t));
    for (size_t i = 0; i < n; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_quantize) TRY(link_activation(t, (int)i));
    return HD_OK;
}

static hd_status legal_of(hd_ctx *ctx, const hd_graph *g, hd_graph **out) {
    TRY(hd_graph_copy(ctx, g, out));
    hd_status s = hd_legalize(ctx, *out);
    if (s == HD_OK && (*out)->scales_found)
        s = hd_fail(ctx, HD_UNSUPPORTED,
                    "%s: %d tensors between integers have no scale in the file; run heddle "
                    "quantize on it first",
                    g->name, (*out)->scales_found);
    if (s != HD_OK) hd_graph_destroy(*out), *out = NULL;
    return s;
}

hd_status hd_integer_twins(struct hd_back *b, const struct hd_train_options *o,
                           struct hd_trained *out, struct hd_through_list *through) {
    struct twins t = {.b = b, .a = b->arena, .through = through};
    t.zeros = o->zeros;
    if (o->ranges > 0) t.ranges = hd_ranges_find(b->g, t.a);
    static const char *const passes[] = {"axes", "fold", "shapes"};
    for (int i = 0; i < 3; i++) TRY(hd_opt_pass(b->ctx, b->g, passes[i]));
    hd_graph *legal = NULL;
    TRY(legal_of(b->ctx, b->g, &legal));
    t.legal = legal;
    t.of = hd_new_array(t.a, int, legal->n_tensors + 1);
    hd_status s = make(&t, out);
    hd_graph_destroy(legal);
    return s;
}

hd_status hd_integer_store(hd_ctx *ctx, hd_graph *g, const char *state, const float *v, int64_t n) {
    size_t length = strlen(state) - strlen(HD_STATE_SUFFIX);
    struct stored s;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (!is_stored(g, (int)i, &s) || hd_tensor_elems(&s.q) != n || strlen(s.q.name) != length ||
            strncmp(s.q.name, state, length) != 0)
            continue;
        char *q = hd_alloc(g->arena, hd_tensor_bytes(&s.q) + 1);
        for (int64_t k = 0; k < n; k++)
            if (s.q.dtype == HD_I8)
                ((int8_t *)q)[k] = (int8_t)integer_of(&s, v[k], k);
            else
                ((int32_t *)q)[k] = integer_of(&s, v[k], k);
        g->tensors[g->nodes[i].in[0]].data = q;
        return HD_OK;
    }
    return hd_fail(ctx, HD_INVALID, "weights '%s': network %s has no such integers", state,
                   g->name);
}
