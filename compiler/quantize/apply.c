/* The rewrite: quantize and dequantize pairs where the plan says so, weights per output channel,
 * biases in steps of the accumulator. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"
#include "runtime/base/memory.h"

enum { HIDDEN = 8 }; /* exp(-8) is a twelfth of a step of 8 bits */

struct apply {
    hd_ctx *ctx;
    hd_graph *g;
    const struct hd_quant_plan *p;
    const struct hd_quant_stats *stats;
    const struct hd_quant_options *o;
    float *scale; /* per tensor, of its group */
    int *scale_const, *zero_const, *side;
    struct hd_entry **entry; /* per tensor: how the quantisation of an input makes it; NULL: not */
    double *offset;          /* per tensor: what its integers stand for, less what it is */
};

static const char *name(struct apply *x, int t, const char *suffix) {
    return hd_sprintf(x->g->arena, "%s.%s", x->g->tensors[t].name, suffix);
}

/* ---- scales ---- */

static hd_status check_finite(struct apply *x, int t) {
    if (!x->stats[t].not_finite) return HD_OK;
    return hd_fail(
        x->ctx, HD_INVALID,
        "tensor '%s': %llu of %llu calibration values are not finite, so it has no range; "
        "correct the data, or --keep the nodes around it",
        x->g->tensors[t].name, (unsigned long long)x->stats[t].not_finite,
        (unsigned long long)x->stats[t].n);
}

static bool is_recurrent(const struct hd_node *n) {
    return n->op == HD_IR_lstm || n->op == HD_IR_gru || n->op == HD_IR_rnn;
}

/* A constant that a recurrent layer begins with is in the range of its results. */
static void constant_states(struct apply *x, float *lo, float *hi) {
    for (size_t i = 0; i < x->p->n_nodes; i++) {
        const struct hd_node *n = &x->g->nodes[i];
        if (!x->p->layer[i] || !is_recurrent(n) || n->n_in <= 5 || n->in[5] < 0) continue;
        const struct hd_tensor *h = &x->g->tensors[n->in[5]];
        const float *v = h->dtype == HD_F32 ? h->data : NULL;
        int to = x->p->group[x->p->result[i]];
        for (int64_t k = 0; v && k < hd_tensor_elems(h); k++)
            lo[to] = fminf(lo[to], v[k]), hi[to] = fmaxf(hi[to], v[k]);
    }
}

/* It has a scale: of what was observed, or of its own values. */
static bool has_range(const struct apply *x, size_t t) {
    return x->p->observe[t] || (x->p->side[t] && x->g->tensors[t].data);
}

static void range_of_constant(const struct hd_tensor *t, float *lo, float *hi) {
    const float *v = t->data;
    *lo = *hi = 0;
    for (int64_t i = 0; i < hd_tensor_elems(t); i++)
        if (isfinite(v[i])) *lo = fminf(*lo, v[i]), *hi = fmaxf(*hi, v[i]);
}

/* The mask of a sum hides what it is added to, rather than move it a little. */
static bool hides(const struct apply *x, int mask, float lo) {
    const struct hd_tensor *t = &x->g->tensors[mask];
    bool infinite = !t->data && x->stats[mask].not_finite;
    for (int64_t i = 0; t->data && i < hd_tensor_elems(t); i++)
        infinite = infinite || !isfinite(((const float *)t->data)[i]);
    return infinite || lo < -3 * HIDDEN;
}

/* Scores and a mask that hides some: softmax sees nothing of a score that is HIDDEN below the
 * smallest that counts, so the sum need not reach further down, however far the mask does. */
static void hide(struct apply *x, int node, float *lo, float *hi) {
    const struct hd_node *n = &x->g->nodes[node];
    int mask = x->p->mask[node], m = x->p->group[mask], y = x->p->group[x->p->result[node]];
    int s = x->p->group[n->in[n->in[0] == mask ? 1 : 0]];
    lo[m] = fminf(lo[m], -(hi[s] - lo[s] + HIDDEN));
    lo[y] = lo[s] - HIDDEN, hi[y] = hi[s] + hi[m];
}

/* A mask serves the sums of several layers: each is judged by its full range, which then reaches
 * as far as the one that needs most. */
static void hide_all(struct apply *x, hd_arena *a, float *lo, float *hi) {
    bool *hidden = hd_new_array(a, bool, x->p->n_nodes + 1);
    for (size_t i = 0; i < x->p->n_nodes; i++) {
        int mask = x->p->mask[i];
        hidden[i] = mask >= 0 && hides(x, mask, lo[x->p->group[mask]]);
    }
    for (size_t i = 0; i < x->p->n_nodes; i++)
        if (hidden[i]) lo[x->p->group[x->p->mask[i]]] = 0;
    for (size_t i = 0; i < x->p->n_nodes; i++)
        if (hidden[i]) hide(x, (int)i, lo, hi);
}

/* Results of sums with masks may hold -inf, and the masks. */
static bool masked(const struct apply *x, int t) {
    for (size_t i = 0; i < x->p->n_nodes; i++)
        if (x->p->mask[i] >= 0 &&
            (x->p->mask[i] == t || x->p->result[i] == t || x->g->nodes[i].out[0] == t))
            return true;
    return false;
}

/* Neither side of a range is so short that it would waste most of a symmetric one. */
static bool two_sides(float lo, float hi) {
    return fminf(-lo, hi) * 4 >= fmaxf(-lo, hi);
}

static bool is_wide(const struct apply *x, int group) {
    return x->o->wide && x->o->wide[group];
}

/* Of values without bounds: results of layers, sums and the like, and inputs. */
static bool is_open(const hd_graph *g, int t) {
    if (g->tensors[t].producer < 0) return true;
    switch (g->nodes[g->tensors[t].producer].op) {
    case HD_IR_conv:
    case HD_IR_convtranspose:
    case HD_IR_gemm:
    case HD_IR_matmul:
    case HD_IR_add:
    case HD_IR_sub:
    case HD_IR_mul:
    case HD_IR_relu:
    case HD_IR_layernorm:
    case HD_IR_avgpool:
    case HD_IR_reducemean:
    case HD_IR_reducesum:
        return true;
    default:
        return false;
    }
}

/* The extremes of n values fall short of those of many, of a normal distribution by sqrt(ln n). */
static float margin(uint64_t n) {
    enum { FEW = 8, MANY = 4096 };
    double values = fmax((double)n, FEW);
    return n && n < MANY ? (float)sqrt(log(MANY) / log(values)) : 1;
}

/* The tensor of the group that the quantisation of an input makes; -1: none, or not it alone. */
static int entry_of(const struct apply *x, int group) {
    int found = -1;
    for (size_t t = 0; t < x->p->n_tensors; t++)
        if (x->p->entry[t] && x->p->group[t] == group) found = found < 0 ? (int)t : -2;
    return found < 0 ? -1 : found;
}

/* All integers of its group are t, moved. */
static bool is_alone(const struct apply *x, int t) {
    for (size_t i = 0; i < x->p->n_tensors; i++)
        if (has_range(x, i) && x->p->group[i] == x->p->group[t] &&
            hd_qdq_behind_moves(x->g, (int)i) != t)
            return false;
    return true;
}

/* Bytes are integers as they come, of step a: scale, zero point and type of their group. */
static bool enter_bytes(struct apply *x, int t, const struct hd_entry *e, float *scale,
                        int32_t *zero, hd_dtype *type) {
    hd_dtype own = x->g->tensors[e->x].dtype;
    if ((own != HD_I8 && own != HD_U8) || e->f.n != 1 || !is_alone(x, t)) return false;
    double z = rint(-e->f.b[0] / e->f.a[0]);
    if (z < (own == HD_I8 ? -128 : 0) || z > (own == HD_I8 ? 127 : 255)) return false;
    *scale = (float)e->f.a[0], *zero = (int32_t)z, *type = own;
    x->offset[t] = -e->f.a[0] * z - e->f.b[0];
    return true;
}

/* A step for each channel. Zero points are integers, so summands are rounded to steps: the scale
 * becomes up to 3 % larger where that rounds less. */
static bool enter_floats(const struct apply *x, const struct hd_entry *e, float *scale,
                         int32_t zero, hd_dtype type) {
    enum { TRIES = 32 };
    if (x->g->tensors[e->x].dtype != HD_F32 || type == HD_I16) return false;
    double best = 1, step = (double)*scale;
    for (int k = 0; k < TRIES; k++) {
        double s = (double)(float)(step * (1 + k / 1024.0)), worst = 0;
        for (int64_t c = 0; c < e->f.n; c++)
            worst = fmax(worst, fabs(e->f.b[c] / s - rint(e->f.b[c] / s)));
        if (worst < best - 1e-3) best = worst, *scale = (float)s;
    }
    for (int64_t c = 0; c < e->f.n; c++) {
        double z = zero + rint(e->f.b[c] / (double)*scale);
        if (z < (type == HD_I8 ? -128 : 0) || z > (type == HD_I8 ? 127 : 255)) return false;
    }
    return true;
}

/* The scale of a group with an input that its quantisation makes ready (entry.c). */
static void enter_scale(struct apply *x, hd_arena *a, int group, float *scale, int32_t *zero,
                        hd_dtype *type) {
    struct hd_entry e;
    float wished = *scale;
    int t = entry_of(x, group);
    if (t < 0 || !hd_quant_entry(x->g, a, t, &e)) return;
    if (!enter_bytes(x, t, &e, scale, zero, type) && !enter_floats(x, &e, &wished, *zero, *type))
        return;
    if (x->g->tensors[e.x].dtype == HD_F32) *scale = wished;
    x->entry[t] = hd_dup(a, &e, sizeof e);
}

/* A scale and zero point for each group: of the union of the ranges in it. */
static hd_status make_scales(struct apply *x, hd_arena *a) {
    size_t n = x->p->n_tensors;
    float *lo = hd_new_array(a, float, n + 1), *hi = hd_new_array(a, float, n + 1);
    bool *centred = hd_new_array(a, bool, n + 1);
    for (size_t t = 0; t < n; t++) {
        int to = x->p->group[t];
        float l, h;
        if (!has_range(x, t)) continue;
        if (x->g->tensors[t].data) {
            range_of_constant(&x->g->tensors[t], &l, &h);
        } else {
            if (!masked(x, (int)t) && !x->p->given[t] && x->p->like[to] < 0)
                TRY(check_finite(x, (int)t));
            hd_quant_clip(&x->stats[t], x->o, &l, &h);
            bool open = x->o->margin && is_open(x->g, (int)t) && !masked(x, (int)t);
            float more = open ? margin(x->stats[t].n) : 1;
            l *= more, h *= more;
            const float *first = x->g->tensors[t].initial; /* of a state */
            for (int64_t i = 0; first && i < hd_tensor_elems(&x->g->tensors[t]); i++)
                l = fminf(l, first[i]), h = fmaxf(h, first[i]);
        }
        lo[to] = fminf(lo[to], l);
        hi[to] = fmaxf(hi[to], h);
        centred[to] = centred[to] || x->p->centred[t];
    }
    constant_states(x, lo, hi);
    hide_all(x, a, lo, hi);
    for (size_t t = 0; t < n; t++) {
        int from = x->p->group[t];
        int32_t zero;
        if (!has_range(x, t)) continue;
        int like = x->p->like[from];
        if (x->scale_const[from] < 0 && like >= 0) {
            x->scale_const[from] = x->g->nodes[like].in[1];
            x->zero_const[from] = x->g->nodes[like].in[2];
            x->scale[from] = *(const float *)x->g->tensors[x->scale_const[from]].data;
        } else if (x->scale_const[from] < 0) {
            float part = x->o->part ? x->o->part[from] : 1;
            struct hd_quant_options o = *x->o;
            bool wide = is_wide(x, from);
            o.symmetric = wide || o.symmetric || (centred[from] && two_sides(lo[from], hi[from]));
            o.type = wide ? HD_I16 : o.type;
            hd_quant_params(lo[from] * part, hi[from] * part, &o, &x->scale[from], &zero);
            enter_scale(x, a, from, &x->scale[from], &zero, &o.type);
            int16_t value = (int16_t)zero; /* little-endian: of bytes the first */
            x->scale_const[from] =
                hd_graph_const(x->g, name(x, (int)t, "scale"), HD_F32, 0, NULL, &x->scale[from]);
            x->zero_const[from] =
                hd_graph_const(x->g, name(x, (int)t, "zero"), o.type, 0, NULL, &value);
        }
        struct hd_qparam own;
        int integers;
        bool given = x->p->given[t] && hd_qdq_dequantized(x->g, (int)t, &integers, &own);
        x->scale[t] = given ? own.scale : x->scale[from];
        x->scale_const[t] = x->scale_const[from];
        x->zero_const[t] = x->zero_const[from];
    }
    return HD_OK;
}

/* dequantize(quantize(from)) -> to */
static void pair(struct apply *x, int t, int from, int to) {
    struct hd_tensor shape = x->g->tensors[t];
    hd_dtype type = x->g->tensors[x->zero_const[t]].dtype;
    int q = hd_graph_tensor(x->g, name(x, t, "q"), type, shape.rank, shape.dim);
    int in[3] = {from, x->scale_const[t], x->zero_const[t]};
    hd_graph_node(x->g, HD_IR_quantize, name(x, t, "quantize"), 3, in, 1, &q);
    in[0] = q;
    hd_graph_node(x->g, HD_IR_dequantize, name(x, t, "dequantize"), 3, in, 1, &to);
}

/* The file quantises it with this scale already, and nothing reads it as float. */
static bool is_wrapped(const struct apply *x, int t) {
    int user[16];
    size_t n = hd_graph_users(x->g, t, user, 16);
    bool is = n > 0 && n <= 16 && !hd_graph_is_output(x->g, t);
    for (size_t i = 0; is && i < n; i++) {
        const struct hd_node *u = &x->g->nodes[user[i]];
        is = u->op == HD_IR_quantize && u->in[1] == x->scale_const[t] &&
             u->in[2] == x->zero_const[t];
    }
    return is;
}

/* The quantisation of an input makes t: a scale and zero point for each channel, or the bytes
 * themselves. What made t goes. */
static void enter(struct apply *x, int t) {
    hd_graph *g = x->g;
    const struct hd_entry *e = x->entry[t];
    struct hd_tensor shape = g->tensors[t];
    int q = e->x, maker = shape.producer;
    if (g->tensors[e->x].dtype == HD_F32) {
        hd_dtype type = g->tensors[x->zero_const[t]].dtype;
        double first = type == HD_U8 ? *(const uint8_t *)g->tensors[x->zero_const[t]].data
                                     : *(const int8_t *)g->tensors[x->zero_const[t]].data;
        size_t n = (size_t)e->f.n;
        float *scale = hd_new_array(g->arena, float, n);
        int8_t *zero = hd_new_array(g->arena, int8_t, n);
        for (size_t c = 0; c < n; c++) {
            scale[c] = (float)((double)x->scale[t] / e->f.a[c]);
            zero[c] = (int8_t)(int)(first + rint(e->f.b[c] / (double)x->scale[t]));
        }
        int rank = n > 1;
        int in[3] = {e->x, hd_graph_const(g, name(x, t, "steps"), HD_F32, rank, &e->f.n, scale),
                     hd_graph_const(g, name(x, t, "zeros"), type, rank, &e->f.n, zero)};
        q = hd_graph_tensor(g, name(x, t, "q"), type, shape.rank, shape.dim);
        int id = hd_graph_node(g, HD_IR_quantize, name(x, t, "quantize"), 3, in, 1, &q);
        if (n > 1) hd_attr_set_int(g, id, "axis", e->axis);
    }
    int in[3] = {q, x->scale_const[t], x->zero_const[t]};
    while (maker >= 0) { /* the chain, from its end */
        const struct hd_node *n = &g->nodes[maker];
        int from = -1;
        for (int i = 0; i < n->n_in; i++)
            if (n->in[i] >= 0 && g->tensors[n->in[i]].producer >= 0) from = n->in[i];
        hd_graph_kill(g, maker);
        maker = from >= 0 && !hd_graph_users(g, from, NULL, 0) && !hd_graph_is_output(g, from)
                    ? g->tensors[from].producer
                    : -1;
    }
    hd_graph_node(g, HD_IR_dequantize, name(x, t, "dequantize"), 3, in, 1, &t);
}

/* Its maker writes a new tensor; t is that, quantised and back. Of a state, which comes in: those
 * who read it read a new tensor. */
static void wrap(struct apply *x, int t) {
    hd_graph *g = x->g;
    if (x->entry[t]) {
        enter(x, t);
        return;
    }
    if (is_wrapped(x, t)) return;
    struct hd_tensor shape = g->tensors[t];
    if (shape.producer < 0) {
        int back = hd_graph_tensor(g, name(x, t, "int8"), HD_F32, shape.rank, shape.dim);
        hd_graph_replace(g, t, back);
        pair(x, t, t, back);
        return;
    }
    int raw = hd_graph_tensor(g, name(x, t, "float"), HD_F32, shape.rank, shape.dim);
    int maker = shape.producer;
    for (int i = 0; i < g->nodes[maker].n_out; i++)
        if (g->nodes[maker].out[i] == t) g->nodes[maker].out[i] = raw;
    g->tensors[raw].producer = maker;
    g->tensors[t].producer = -1;
    pair(x, t, raw, t);
}

/* ---- layers ---- */

struct weights { /* of one layer, per output channel */
    int axis;
    int64_t channels, inner;
    const float *w, *bias; /* bias NULL = none */
    float x_scale;
    bool wide; /* activations are int16 */
    float *scale;
    int8_t *q;
};

static int64_t channel(const struct weights *v, int64_t i) {
    return i / v->inner % v->channels;
}

static void round_weights(struct weights *v, int64_t elems) {
    for (int64_t i = 0; i < elems; i++)
        v->q[i] = (int8_t)fmaxf(-127, fminf(127, rintf(v->w[i] / v->scale[channel(v, i)])));
}

/* Larger steps for channels whose sums could leave int32 (hd_qdq_sums_fit), or those of the low
 * bytes with the bias 24 bits (compiler/kind/wide.c); false: none could. */
static bool shrink(struct weights *v, int64_t elems) {
    const double most = 2147480000.0;
    double *sum = calloc((size_t)v->channels + 1, sizeof *sum);
    bool any = false;
    HD_MEMORY(sum);
    for (int64_t i = 0; i < elems; i++) sum[channel(v, i)] += 32768.0 * abs(v->q[i]);
    for (int64_t c = 0; c < v->channels; c++) {
        float step = v->x_scale * v->scale[c];
        double all = sum[c] + (v->bias ? 128 * fabs((double)v->bias[c] / (double)step) : 0);
        if (all <= most) continue;
        v->scale[c] *= (float)(all / most * 1.001);
        any = true;
    }
    free(sum);
    return any;
}

/* Symmetric, each channel by its largest weight; a bias that would not fit int32 in such steps
 * makes them larger. */
static void quantise_weights(struct weights *v, int64_t elems) {
    for (int64_t i = 0; i < elems; i++)
        v->scale[channel(v, i)] = fmaxf(v->scale[channel(v, i)], fabsf(v->w[i]) / 127);
    for (int64_t c = 0; c < v->channels; c++) {
        float bias = v->bias ? fabsf(v->bias[c]) / v->x_scale / 1073741824.0f : 0;
        v->scale[c] = fmaxf(v->scale[c], bias);
        if (!(v->scale[c] * v->x_scale >= 1e-35f)) v->scale[c] = 1e-35f / v->x_scale;
        if (!(v->scale[c] >= 1e-35f)) v->scale[c] = 1;
    }
    round_weights(v, elems);
    while (v->wide && shrink(v, elems)) round_weights(v, elems);
}

static int dequantised(struct apply *x, int like, const char *suffix, hd_dtype type,
                       const void *data, const struct weights *v, const float *scale, int axis) {
    struct hd_tensor t = x->g->tensors[like];
    const char *base = name(x, like, suffix);
    void *zeros = hd_alloc(x->g->arena, (size_t)v->channels * 4);
    int in[3] = {hd_graph_const(x->g, base, type, t.rank, t.dim, data),
                 hd_graph_const_f32(x->g, hd_sprintf(x->g->arena, "%s.scale", base),
                                    (int)v->channels, scale),
                 hd_graph_const(x->g, hd_sprintf(x->g->arena, "%s.zero", base), type, 1,
                                &v->channels, zeros)};
    int y = hd_graph_tensor(x->g, hd_sprintf(x->g->arena, "%s.float", base), HD_F32, t.rank, t.dim);
    int id = hd_graph_node(x->g, HD_IR_dequantize, base, 3, in, 1, &y);
    hd_attr_set_int(x->g, id, "axis", axis);
    return y;
}

/* The shift of a layer, with what the offset of its operand does to its sums. */
static const double *shifted(const struct apply *x, hd_arena *a, int operand,
                             const struct weights *v, int64_t elems, const double *shift) {
    double offset = x->offset[hd_qdq_behind_moves(x->g, operand)];
    if (offset == 0) return shift;
    double *sum = hd_new_array(a, double, (size_t)v->channels + 1);
    for (int64_t c = 0; shift && c < v->channels; c++) sum[c] = shift[c];
    for (int64_t i = 0; i < elems; i++) {
        int64_t c = channel(v, i);
        sum[c] += offset * (double)v->q[i] * (double)v->scale[c];
    }
    return sum;
}

/* Bias as int32 in steps of x_scale * w_scale. */
static int quantise_bias(struct apply *x, int bias, const struct weights *v, const double *shift) {
    const struct hd_tensor *b = &x->g->tensors[bias];
    int32_t *q = hd_new_array(x->g->arena, int32_t, (size_t)v->channels + 1);
    float *scale = hd_new_array(x->g->arena, float, (size_t)v->channels + 1);
    int axis = b->rank - 1;
    for (int64_t c = 0; c < v->channels; c++) {
        scale[c] = v->x_scale * v->scale[c];
        double r = rint(((double)v->bias[c] - (shift ? shift[c] : 0)) / (double)scale[c]);
        q[c] = (int32_t)fmax(-2147483647.0, fmin(2147483647.0, r));
    }
    return dequantised(x, bias, "i32", HD_I32, q, v, scale, axis);
}

/* The constant that is the bias of a layer, -1 = none; the node that adds it, and as which operand.
 */
static int bias_of(const hd_graph *g, const struct hd_quant_plan *p, int node, int *out_holder,
                   int *out_slot) {
    const struct hd_node *n = &g->nodes[node];
    int bias = n->n_in > 2 ? n->in[2] : -1;
    *out_holder = node, *out_slot = 2;
    if (bias < 0) {
        int add = hd_quant_bias_add(g, node, &bias);
        if (add >= 0) *out_holder = add, *out_slot = g->nodes[add].in[0] == bias ? 0 : 1;
    }
    return bias >= 0 && p->why[*out_holder] ? -1 : bias; /* kept in float */
}

/* It has a value for each channel of the layer. */
static bool is_whole(const hd_graph *g, int node, int bias) {
    int axis = hd_quant_weights(g, node);
    return axis >= 0 && bias >= 0 && g->tensors[bias].rank > 0 &&
           hd_tensor_elems(&g->tensors[bias]) == g->tensors[g->nodes[node].in[1]].dim[axis];
}

int64_t hd_quant_bias_channels(const hd_graph *g, const struct hd_quant_plan *plan, int node,
                               int *out_sum) {
    int holder, slot, bias = bias_of(g, plan, node, &holder, &slot);
    if (!is_whole(g, node, bias)) return 0;
    *out_sum = g->nodes[holder].out[0];
    return hd_tensor_elems(&g->tensors[bias]);
}

static void layer(struct apply *x, hd_arena *a, int node) {
    hd_graph *g = x->g;
    struct hd_node n = g->nodes[node];
    struct weights v = {
        .axis = hd_quant_weights(g, node), .w = g->tensors[n.in[1]].data, .inner = 1};
    const struct hd_tensor *w = &g->tensors[n.in[1]];
    int64_t elems = hd_tensor_elems(w);
    int holder, slot, bias = bias_of(g, x->p, node, &holder, &slot);
    v.channels = w->dim[v.axis];
    for (int d = v.axis + 1; d < w->rank; d++) v.inner *= w->dim[d];
    bool whole = is_whole(g, node, bias);
    v.bias = whole ? g->tensors[bias].data : NULL;
    v.x_scale = x->scale[n.in[0]];
    v.wide = is_wide(x, x->p->group[n.in[0]]);
    v.scale = hd_new_array(a, float, (size_t)v.channels + 1);
    v.q = hd_new_array(a, int8_t, (size_t)elems + 1);
    quantise_weights(&v, elems);
    int wq = dequantised(x, n.in[1], "i8", HD_I8, v.q, &v, v.scale, v.axis);
    const double *shift = x->o->shift ? x->o->shift[node] : NULL;
    int bq = whole ? quantise_bias(x, bias, &v, shifted(x, a, n.in[0], &v, elems, shift)) : -1;
    g->nodes[node].in[1] = wq;
    if (bq >= 0) g->nodes[holder].in[slot] = bq;
    if (x->side[n.in[0]] >= 0) g->nodes[node].in[0] = x->side[n.in[0]];
}

/* Weights of a recurrent node, operand 1 or 2: a scale for each unit of each gate, which directions
 * share. The bias stays float. */
static void recurrent_weights(struct apply *x, hd_arena *a, int node, int slot, float x_scale) {
    int t = x->g->nodes[node].in[slot];
    const struct hd_tensor *w = &x->g->tensors[t];
    struct weights v = {
        .axis = 1, .channels = w->dim[1], .inner = w->dim[2], .w = w->data, .x_scale = x_scale};
    int64_t elems = hd_tensor_elems(w);
    v.scale = hd_new_array(a, float, (size_t)v.channels + 1);
    v.q = hd_new_array(a, int8_t, (size_t)elems + 1);
    quantise_weights(&v, elems);
    int wq = dequantised(x, t, "i8", HD_I8, v.q, &v, v.scale, v.axis);
    x->g->nodes[node].in[slot] = wq;
}

static void recurrent(struct apply *x, hd_arena *a, int node) {
    const struct hd_node *n = &x->g->nodes[node];
    int in = n->in[0];
    recurrent_weights(x, a, node, 1, x->scale[in]);
    recurrent_weights(x, a, node, 2, x->scale[x->p->result[node]]);
    if (x->side[in] >= 0) x->g->nodes[node].in[0] = x->side[in];
}

/* Operands that the node wants as integers. */
static void take_sides(struct apply *x, int node) {
    struct hd_node *n = &x->g->nodes[node];
    int moved = hd_qdq_moved_operands(n);
    for (int i = 0; i < n->n_in; i++) {
        int t = n->in[i];
        if (t < 0 || (size_t)t >= x->p->n_tensors || x->side[t] < 0) continue;
        if (!x->p->given[t] || i < moved) n->in[i] = x->side[t];
    }
}

hd_status hd_quant_apply(hd_ctx *ctx, hd_graph *g, const struct hd_quant_plan *plan,
                         const struct hd_quant_stats *stats, const struct hd_quant_options *o) {
    hd_arena *a = hd_arena_create();
    size_t n = plan->n_tensors + 1;
    struct apply x = {ctx,
                      g,
                      plan,
                      stats,
                      o,
                      hd_new_array(a, float, n),
                      hd_new_array(a, int, n),
                      hd_new_array(a, int, n),
                      hd_new_array(a, int, n),
                      hd_new_array(a, struct hd_entry *, n),
                      hd_new_array(a, double, n)};
    for (size_t t = 0; t < n; t++) x.scale_const[t] = x.zero_const[t] = x.side[t] = -1;
    hd_status s = make_scales(&x, a);
    for (size_t t = 0; s == HD_OK && t < plan->n_tensors; t++) {
        if (!plan->side[t] || (plan->made[t] && !plan->given[t])) continue;
        struct hd_tensor shape = g->tensors[t];
        x.side[t] = hd_graph_tensor(g, name(&x, (int)t, "int8"), HD_F32, shape.rank, shape.dim);
        pair(&x, (int)t, (int)t, x.side[t]);
    }
    for (size_t i = 0; s == HD_OK && i < plan->n_nodes; i++)
        if (plan->layer[i] && hd_quant_weights(g, (int)i) >= 0)
            layer(&x, a, (int)i);
        else if (plan->layer[i] && is_recurrent(&g->nodes[i]))
            recurrent(&x, a, (int)i);
        else if (plan->layer[i] || (!plan->why[i] && hd_qdq_moved_operands(&g->nodes[i])))
            take_sides(&x, (int)i);
    for (size_t t = 0; s == HD_OK && t < plan->n_tensors; t++)
        if (plan->made[t] && !plan->given[t]) wrap(&x, (int)t);
    hd_arena_destroy(a);
    if (s == HD_OK) s = hd_graph_infer(ctx, g);
    return s == HD_OK ? hd_graph_verify(ctx, g) : s;
}
