/* Step maker for oneDNN: float convolutions, matrix products, pools and LRN, and what can be fused
 * behind them. The plugin (dnnl_plugin.c) makes the primitives; this file decides what to ask for.
 *
 * A chain of nodes, each the only reader of the one before, becomes post-operations. The longest
 * prefix of the chain is taken that oneDNN has a good implementation for.
 */
#include <math.h>
#include <string.h>

#include "compiler/ir/window.h"
#include "cpu_ref/cpu_plan.h"
#include "cpu_ref/dnnl_api.h"

static const struct hd_tensor *tensor(const struct hd_cpu_plan *p, int id) {
    return &p->g->tensors[id];
}

static hd_status run_op(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    void *x[HD_DNNL_POSTS + 2] = {0};
    void **all = s->n_in <= HD_DNNL_POSTS + 2 ? x : NULL;
    if (!all) all = r->scratch; /* concat of many: see plan_concat */
    for (int i = 0; i < s->n_in; i++) all[i] = r->at[s->in[i]];
    if (r->plan->dnnl->run(s->state, all, r->at[s->out[0]], r->scratch) == 0) return HD_OK;
    return hd_fail(r->ctx, HD_DEVICE, "cpu: oneDNN failed in '%s' (%s), for want of memory, say",
                   s->node < 0 ? "reorder" : r->plan->g->nodes[s->node].name, s->how);
}

struct hd_cpu_step *hd_cpu_dnnl_step(struct hd_cpu_plan *p, int node, hd_dnnl_op *op, int n_in,
                                     const int *in, int out) {
    struct hd_cpu_step *s =
        hd_cpu_step(p, node, hd_strdup(p->arena, p->dnnl->impl(op)), n_in, in, 1, &out);
    s->run = run_op;
    s->state = op;
    s->destroy = (void (*)(void *))p->dnnl->destroy;
    hd_cpu_scratch(p, p->dnnl->scratch(op));
    return s;
}

static struct hd_cpu_form form_of(const void *md) {
    return md ? (struct hd_cpu_form){HD_CPU_BLOCKED, md} : hd_cpu_dense;
}

static size_t form_bytes(const struct hd_cpu_plan *p, int t, const void *md) {
    return md ? p->dnnl->bytes(md) : hd_tensor_bytes(tensor(p, t));
}

hd_status hd_cpu_dnnl_reorder(struct hd_cpu_plan *p, int from, int to) {
    struct hd_cpu_view *a = &p->views[from], *b = &p->views[to];
    const struct hd_tensor *t = tensor(p, b->tensor);
    hd_dnnl_op *op = p->dnnl->reorder(p->dnnl_engine, t->rank, t->dim, a->form.md, b->form.md);
    if (!op) return hd_fail(p->ctx, HD_DEVICE, "cpu: oneDNN cannot reorder tensor '%s'", t->name);
    b->bytes = form_bytes(p, b->tensor, b->form.md);
    hd_cpu_dnnl_step(p, -1, op, 1, &from, to);
    return HD_OK;
}

/* ---- chains --------------------------------------------------------------------------------- */

struct chain { /* what follows a node */
    int n;
    struct hd_dnnl_post post[HD_DNNL_POSTS];
    int node[HD_DNNL_POSTS];
    int operand[HD_DNNL_POSTS]; /* tensor of ADD, MUL, SUM; -1 = none */
};

static bool constant_scalar(const struct hd_cpu_plan *p, int t, float *out) {
    const float *v = t < 0 ? NULL : hd_cpu_const(p, t);
    if (!v || tensor(p, t)->dtype != HD_F32 || hd_tensor_elems(tensor(p, t)) != 1) return false;
    *out = *v;
    return true;
}

static bool same_shape(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* Available where the chain is planned: made already, or constant. */
static bool available(const struct hd_cpu_plan *p, int t) {
    return t >= 0 && (p->view_of[t] >= 0 || hd_cpu_const(p, t));
}

/* A constant that broadcasts along one dimension at most: a value per channel, or one value. */
static bool per_channel(const struct hd_cpu_plan *p, int t, const struct hd_tensor *y, int channel,
                        struct hd_dnnl_post *k) {
    const struct hd_tensor *c = tensor(p, t);
    if (!hd_cpu_const(p, t) || c->dtype != HD_F32 || c->rank > y->rank) return false;
    k->rank = y->rank;
    for (int d = 0; d < y->rank; d++) {
        int from = d - (y->rank - c->rank);
        k->dim[d] = from < 0 ? 1 : c->dim[from];
        if (k->dim[d] != 1 && (d != channel || k->dim[d] != y->dim[d])) return false;
    }
    return true;
}

static bool unary_post(const struct hd_cpu_plan *p, const struct hd_node *n,
                       struct hd_dnnl_post *k) {
    static const struct {
        const char *op;
        enum hd_dnnl_post_kind kind;
        const char *attr;
        float def;
    } table[] = {{"relu", HD_POST_RELU, NULL, 0},
                 {"sigmoid", HD_POST_SIGMOID, NULL, 0},
                 {"tanh", HD_POST_TANH, NULL, 0},
                 {"leakyrelu", HD_POST_LEAKY, "alpha", 0.01f},
                 {"hardswish", HD_POST_HARDSWISH, NULL, 0}};
    const char *name = hd_ir_ops[n->op].name;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].op)) {
            k->kind = table[i].kind;
            if (table[i].attr) k->alpha = hd_attr_float(n, table[i].attr, table[i].def);
            return true;
        }
    if (n->op != HD_IR_clip) return false;
    k->kind = HD_POST_CLIP;
    k->alpha = -INFINITY, k->beta = INFINITY;
    return (n->n_in < 2 || n->in[1] < 0 || constant_scalar(p, n->in[1], &k->alpha)) &&
           (n->n_in < 3 || n->in[2] < 0 || constant_scalar(p, n->in[2], &k->beta));
}

/* n reads t; true when it can be a post-operation. */
static bool binary_post(const struct hd_cpu_plan *p, const struct hd_node *n, int t, int channel,
                        bool *has_sum, struct hd_dnnl_post *k, int *operand) {
    if (n->n_in != 2) return false;
    bool second = n->in[1] == t;
    int other = n->in[!second];
    float c;
    if (other == t || !available(p, other) || tensor(p, other)->dtype != HD_F32) return false;
    bool scalar = constant_scalar(p, other, &c) && tensor(p, other)->rank <= tensor(p, t)->rank;
    switch (n->op) {
    case HD_IR_mul:
        if (scalar) return *k = (struct hd_dnnl_post){.kind = HD_POST_LINEAR, .alpha = c}, true;
        k->kind = HD_POST_MUL;
        *operand = other;
        return per_channel(p, other, tensor(p, t), channel, k);
    case HD_IR_div:
        if (!scalar || second) return false;
        return *k = (struct hd_dnnl_post){.kind = HD_POST_LINEAR, .alpha = 1 / c}, true;
    case HD_IR_add:
        *operand = other;
        if (per_channel(p, other, tensor(p, t), channel, k)) return k->kind = HD_POST_ADD, true;
        if (*has_sum || hd_cpu_const(p, other) || !same_shape(tensor(p, other), tensor(p, t)))
            return false;
        k->kind = HD_POST_SUM;
        return *has_sum = true;
    default:
        return false;
    }
}

/* oneDNN 2.6 gives two post-operations of one kind the parameters of the first. */
static bool repeats(const struct chain *c) {
    enum hd_dnnl_post_kind kind = c->post[c->n].kind;
    if (kind == HD_POST_ADD || kind == HD_POST_MUL) return false; /* their operands are their own */
    for (int i = 0; i < c->n; i++)
        if (c->post[i].kind == kind) return true;
    return false;
}

static void find_chain(const struct hd_cpu_plan *p, int t, int channel, struct chain *c) {
    bool has_sum = false;
    c->n = 0;
    while (c->n < HD_DNNL_POSTS - 1) {
        int user = hd_cpu_only_user(p, t);
        if (user < 0) return;
        const struct hd_node *n = &p->g->nodes[user];
        struct hd_dnnl_post *k = &c->post[c->n];
        *k = (struct hd_dnnl_post){0};
        c->operand[c->n] = -1;
        if (n->n_out != 1 || !same_shape(tensor(p, n->out[0]), tensor(p, t)) ||
            tensor(p, n->out[0])->dtype != HD_F32 ||
            (!unary_post(p, n, k) &&
             !binary_post(p, n, t, channel, &has_sum, k, &c->operand[c->n])) ||
            repeats(c))
            return;
        c->node[c->n++] = user;
        t = n->out[0];
    }
}

/* True when nobody else sees the memory of this view, now or later. */
static bool is_private(const struct hd_cpu_plan *p, int view, int except) {
    const struct hd_cpu_view *v = &p->views[view];
    if (v->root >= 0 || v->constant || v->io >= 0 || hd_cpu_needed_later(p, v->tensor, except))
        return false;
    for (size_t i = 0; i < p->n_views; i++)
        if (p->views[i].root == view) return false;
    return true;
}

/* The view that a result is added into, in the result's layout. */
static hd_status sum_target(struct hd_cpu_plan *p, int t, const void *md, int node, int *out) {
    size_t before = p->n_views, bytes = form_bytes(p, t, md);
    TRY(hd_cpu_need(p, t, form_of(md), out));
    if (p->n_views > before || is_private(p, *out, node)) {
        p->views[*out].tensor = -1; /* its content changes: it is this tensor no longer */
        for (int *v = &p->view_of[t]; *v >= 0; v = &p->views[*v].next)
            if (*v == *out) {
                *v = p->views[*out].next;
                break;
            }
        return HD_OK;
    }
    int copy = hd_cpu_make(p, -1, form_of(md), bytes);
    hd_cpu_copy_step(p, *out, copy, bytes);
    *out = copy;
    return HD_OK;
}

/* The step of an operation with a chain behind it. n_in operands are in already. */
static hd_status finish(struct hd_cpu_plan *p, int node, hd_dnnl_op *op, const struct chain *c,
                        int n_in, int *in) {
    const struct hd_node *n = &p->g->nodes[c->n ? c->node[c->n - 1] : node];
    const void *md = p->dnnl->y_md(op);
    int target = -1;
    for (int i = 0; i < c->n; i++) {
        if (c->post[i].kind == HD_POST_SUM)
            TRY(sum_target(p, c->operand[i], md, c->node[i], &target));
        else if (c->operand[i] >= 0)
            TRY(hd_cpu_need(p, c->operand[i], hd_cpu_dense, &in[n_in++]));
    }
    int out = target < 0 ? hd_cpu_make(p, n->out[0], form_of(md), form_bytes(p, n->out[0], md))
                         : hd_cpu_alias(p, n->out[0], form_of(md), target, 0);
    p->views[out].bytes = form_bytes(p, n->out[0], md);
    struct hd_cpu_step *s = hd_cpu_dnnl_step(p, node, op, n_in, in, out);
    s->n_nodes = 1 + c->n;
    for (int i = 0; i < c->n; i++) p->done[c->node[i]] = true;
    return HD_OK;
}

static bool is_f32(const struct hd_cpu_plan *p, int t) {
    return t < 0 || tensor(p, t)->dtype == HD_F32;
}

/* ---- convolution ---------------------------------------------------------------------------- */

/* Where the i-th weight of output channel m lies: [M][C/group].., or [C][M/group].. */
static int64_t weight_of(const struct hd_dnnl_conv *d, int64_t m, int64_t i) {
    int64_t taps = 1, cg = d->v.c / d->group, mg = d->m / d->group;
    for (int k = 0; k < d->v.sp; k++) taps *= d->v.kernel[k];
    if (!d->transposed) return m * cg * taps + i;
    return ((m / mg * cg + i / taps) * mg + m % mg) * taps + i % taps;
}

/* A batch normalisation that is the only reader of a convolution goes into its weights. -1 = none;
 * else the node, and new weights and bias in *d. */
static int fold_batchnorm(struct hd_cpu_plan *p, const struct hd_node *conv,
                          struct hd_dnnl_conv *d) {
    int user = hd_cpu_only_user(p, conv->out[0]);
    if (user < 0 || p->g->nodes[user].op != HD_IR_batchnorm) return -1;
    const struct hd_node *n = &p->g->nodes[user];
    const float *v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = hd_cpu_const(p, n->in[1 + i]);
        if (!v[i] || !is_f32(p, n->in[1 + i])) return -1;
    }
    if (n->in[0] != conv->out[0] || n->n_out != 1) return -1;
    int64_t per = hd_tensor_elems(tensor(p, conv->in[1])) / d->m;
    float *w = hd_new_array(p->arena, float, (size_t)(per * d->m));
    float *b = hd_new_array(p->arena, float, (size_t)d->m);
    double e = (double)hd_attr_float(n, "epsilon", 1e-5f);
    for (int64_t m = 0; m < d->m; m++) {
        double k = (double)v[0][m] / sqrt((double)v[3][m] + e);
        double bias = d->b_data ? (double)d->b_data[m] : 0;
        b[m] = (float)((double)v[1][m] + (bias - (double)v[2][m]) * k);
        for (int64_t i = 0; i < per; i++) {
            int64_t at = weight_of(d, m, i);
            w[at] = (float)((double)d->w_data[at] * k);
        }
    }
    d->w_data = w;
    d->b_data = b;
    return user;
}

static hd_status plan_conv(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]), *w = tensor(p, n->in[1]);
    int b = n->n_in > 2 ? n->in[2] : -1;
    bool fixed = hd_cpu_const(p, n->in[1]) && (b < 0 || hd_cpu_const(p, b));
    bool transposed = n->op == HD_IR_convtranspose;
    int64_t group = hd_attr_int(n, "group", 1);
    struct hd_window_nd v;
    struct chain c;
    if (x->rank < 3 || x->rank > HD_DNNL_SPATIAL + 2 || !is_f32(p, n->in[0]) ||
        !hd_tensor_elems(x) || !hd_tensor_elems(w))
        return HD_OK;
    TRY(transposed ? hd_window_transposed_get(p->ctx, n, x, w->dim + 2, &v)
                   : hd_window_nd_get(p->ctx, n, x, w->dim + 2, &v));
    for (int i = 0; i < v.sp; i++)
        if (transposed && v.out[i] > (v.in[i] - 1) * v.stride[i] +
                                         (v.kernel[i] - 1) * v.dilation[i] + 1 - v.before[i])
            return HD_OK; /* no tap reaches the last row or column, which is no case of oneDNN's */
    struct hd_dnnl_conv d = {.v = v,
                             .m = transposed ? w->dim[1] * group : w->dim[0],
                             .group = group,
                             .transposed = transposed,
                             .w_data = fixed ? hd_cpu_const(p, n->in[1]) : NULL,
                             .b_data = fixed ? hd_cpu_const(p, b) : NULL,
                             .b_operand = !fixed && b >= 0};
    int folded = fixed ? fold_batchnorm(p, n, &d) : -1, last = folded < 0 ? node : folded;
    find_chain(p, p->g->nodes[last].out[0], 1, &c);
    if (transposed) c.n = 0; /* behind them oneDNN 2.6 has its reference code alone */
    hd_dnnl_op *op = NULL;
    for (;; c.n--) {
        d.n_posts = c.n;
        memcpy(d.post, c.post, sizeof d.post);
        op = p->dnnl->conv(p->dnnl_engine, &d);
        if (op || !c.n) break;
    }
    if (!op) return HD_OK;
    int in[HD_DNNL_POSTS + 4], n_in = 0;
    TRY(hd_cpu_need(p, n->in[0], form_of(p->dnnl->x_md(op)), &in[n_in++]));
    if (!fixed) TRY(hd_cpu_need(p, n->in[1], hd_cpu_dense, &in[n_in++]));
    if (d.b_operand) TRY(hd_cpu_need(p, b, hd_cpu_dense, &in[n_in++]));
    *out_taken = true;
    if (folded >= 0) p->done[folded] = true;
    TRY(finish(p, last, op, &c, n_in, in));
    p->steps[p->n_steps - 1].n_nodes += folded >= 0;
    return HD_OK;
}

/* ---- products ------------------------------------------------------------------------------- */

static hd_status plan_product(struct hd_cpu_plan *p, int node, struct hd_dnnl_matmul *d, int bias,
                              bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct chain c;
    find_chain(p, n->out[0], tensor(p, n->out[0])->rank - 1, &c);
    int shift = bias >= 0, rank = tensor(p, n->out[0])->rank;
    hd_dnnl_op *op = NULL;
    for (;; c.n--) {
        d->n_posts = shift;
        for (int i = 0; i < c.n; i++) {
            struct hd_dnnl_post k = c.post[i]; /* shapes at the rank of the product */
            if (k.kind == HD_POST_ADD || k.kind == HD_POST_MUL) {
                int64_t last = k.rank ? k.dim[rank - 1] : 1;
                k.rank = d->rank;
                for (int j = 0; j < d->rank; j++) k.dim[j] = j == d->rank - 1 ? last : 1;
            }
            d->post[d->n_posts++] = k;
        }
        op = p->dnnl->matmul(p->dnnl_engine, d);
        if (op || !c.n) break;
    }
    if (!op) return HD_OK;
    int in[HD_DNNL_POSTS + 4], n_in = 0;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in[n_in++]));
    if (!d->b_data) TRY(hd_cpu_need(p, n->in[1], hd_cpu_dense, &in[n_in++]));
    if (shift) TRY(hd_cpu_need(p, bias, hd_cpu_dense, &in[n_in++]));
    *out_taken = true;
    return finish(p, node, op, &c, n_in, in);
}

static hd_status plan_gemm(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *a = tensor(p, n->in[0]), *b = tensor(p, n->in[1]),
                           *y = tensor(p, n->out[0]);
    bool ta = hd_attr_int(n, "transA", 0) != 0, tb = hd_attr_int(n, "transB", 0) != 0;
    int c = n->n_in > 2 ? n->in[2] : -1;
    if (!is_f32(p, n->in[0]) || a->rank != 2 || b->rank != 2 || !hd_tensor_elems(a) ||
        !hd_tensor_elems(b) || (c >= 0 && hd_attr_float(n, "beta", 1) != 1))
        return HD_OK;
    struct hd_dnnl_matmul d = {.rank = 2,
                               .a = {y->dim[0], a->dim[ta ? 0 : 1]},
                               .b = {b->dim[tb ? 1 : 0], y->dim[1]},
                               .y = {y->dim[0], y->dim[1]},
                               .a_turned = ta,
                               .b_turned = tb,
                               .b_data = hd_cpu_const(p, n->in[1]),
                               .alpha = hd_attr_float(n, "alpha", 1)};
    if (c < 0) return plan_product(p, node, &d, -1, out_taken);
    const struct hd_tensor *t = tensor(p, c);
    int64_t cols = t->rank ? t->dim[t->rank - 1] : 1, rows = t->rank == 2 ? t->dim[0] : 1;
    if (hd_cpu_const(p, c) && d.alpha == 1 && rows == 1 && cols == y->dim[1]) {
        d.bias = hd_cpu_const(p, c);
        return plan_product(p, node, &d, -1, out_taken);
    }
    d.post[0] = (struct hd_dnnl_post){.kind = HD_POST_ADD, .rank = 2, .dim = {rows, cols}};
    return plan_product(p, node, &d, c, out_taken);
}

static hd_status plan_matmul(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *a = tensor(p, n->in[0]), *b = tensor(p, n->in[1]),
                           *y = tensor(p, n->out[0]);
    if (!is_f32(p, n->in[0]) || a->rank < 1 || b->rank < 2 || !hd_tensor_elems(a) ||
        !hd_tensor_elems(b))
        return HD_OK;
    struct hd_dnnl_matmul d = {.b_data = hd_cpu_const(p, n->in[1]), .alpha = 1};
    int64_t k = a->dim[a->rank - 1], cols = b->dim[b->rank - 1];
    if (b->rank == 2) { /* every row of every batch at once */
        d.rank = 2;
        d.a[0] = hd_tensor_elems(a) / k, d.a[1] = k;
        d.b[0] = k, d.b[1] = cols;
        d.y[0] = d.a[0], d.y[1] = cols;
        return plan_product(p, node, &d, -1, out_taken);
    }
    d.rank = b->rank > a->rank ? b->rank : a->rank;
    if (a->rank < 2 || d.rank > 6 || y->rank != d.rank) return HD_OK;
    for (int i = 0; i < d.rank; i++) {
        int from_a = i - (d.rank - a->rank), from_b = i - (d.rank - b->rank);
        d.a[i] = from_a < 0 ? 1 : a->dim[from_a];
        d.b[i] = from_b < 0 ? 1 : b->dim[from_b];
        d.y[i] = y->dim[i];
    }
    return plan_product(p, node, &d, -1, out_taken);
}

/* ---- pools, concat -------------------------------------------------------------------------- */

/* A layout of oneDNN that the tensor is in already, NULL = none. */
static const void *blocked(const struct hd_cpu_plan *p, int t) {
    for (int v = p->view_of[t]; v >= 0; v = p->views[v].next)
        if (p->views[v].form.kind == HD_CPU_BLOCKED) return p->views[v].form.md;
    return NULL;
}

static hd_status plan_pool(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]);
    bool padded = hd_attr_int(n, "count_include_pad", 0) != 0;
    struct hd_window_nd v;
    for (int i = 1; i < n->n_out; i++)
        if (n->out[i] >= 0) return HD_OK; /* indices */
    if (x->rank < 3 || x->rank > HD_DNNL_SPATIAL + 2 || !is_f32(p, n->in[0]) || !hd_tensor_elems(x))
        return HD_OK;
    TRY(hd_window_nd_get(p->ctx, n, x, NULL, &v));
    bool over = false;
    for (int i = 0; i < v.sp; i++)
        over = over || (v.out[i] - 1) * v.stride[i] + (v.kernel[i] - 1) * v.dilation[i] + 1 >
                           v.in[i] + v.before[i] + v.after[i];
    if (padded && over) return HD_OK; /* what counts beyond the padding is ONNX's own rule */
    struct hd_dnnl_pool d = {.kind = n->op == HD_IR_maxpool ? HD_POOL_MAX
                                     : padded               ? HD_POOL_AVG_PADDED
                                                            : HD_POOL_AVG,
                             .v = v,
                             .x_md = blocked(p, n->in[0])};
    hd_dnnl_op *op = p->dnnl->pool(p->dnnl_engine, &d);
    if (!op) return HD_OK;
    int in[HD_DNNL_POSTS + 2];
    struct chain none = {.n = 0};
    TRY(hd_cpu_need(p, n->in[0], form_of(p->dnnl->x_md(op)), &in[0]));
    *out_taken = true;
    return finish(p, node, op, &none, 1, in);
}

/* Across channels. oneDNN's window is symmetric: of an even size ONNX's reaches further up. */
static hd_status plan_lrn(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = tensor(p, n->in[0]);
    int64_t size = hd_attr_int(n, "size", 1);
    if (x->rank != 4 || !is_f32(p, n->in[0]) || !hd_tensor_elems(x) || size < 1 || size % 2 == 0)
        return HD_OK;
    struct hd_dnnl_lrn d = {.rank = x->rank,
                            .size = size,
                            .alpha = hd_attr_float(n, "alpha", 1e-4f),
                            .beta = hd_attr_float(n, "beta", 0.75f),
                            .k = hd_attr_float(n, "bias", 1),
                            .x_md = blocked(p, n->in[0])};
    memcpy(d.dim, x->dim, (size_t)x->rank * sizeof *x->dim);
    hd_dnnl_op *op = p->dnnl->lrn(p->dnnl_engine, &d);
    if (!op) return HD_OK;
    int in[HD_DNNL_POSTS + 2];
    struct chain none = {.n = 0};
    TRY(hd_cpu_need(p, n->in[0], form_of(p->dnnl->x_md(op)), &in[0]));
    *out_taken = true;
    return finish(p, node, op, &none, 1, in);
}

/* Along the channels, of tensors in layouts of oneDNN: into place when that is possible. */
static hd_status plan_concat(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *y = tensor(p, n->out[0]);
    int64_t axis = hd_attr_int(n, "axis", 0);
    if (axis != 1 || y->rank < 3 || !is_f32(p, n->out[0])) return HD_OK;
    const void **md = hd_new_array(p->arena, const void *, (size_t)n->n_in);
    int *in = hd_new_array(p->arena, int, (size_t)n->n_in);
    bool whole = y->dim[0] == 1;
    for (int i = 0; i < n->n_in; i++) {
        md[i] = blocked(p, n->in[i]);
        if (!md[i]) return HD_OK;
        whole = whole && !p->dnnl->padded(md[i]);
        TRY(hd_cpu_need(p, n->in[i], form_of(md[i]), &in[i]));
    }
    hd_dnnl_op *op = p->dnnl->concat(p->dnnl_engine, n->n_in, md);
    if (!op) return HD_OK;
    const void *y_md = p->dnnl->y_md(op);
    bool to_blocked = y_md && p->dnnl->blocks_channels(y_md);
    for (int i = 0; i < n->n_in; i++) {
        const struct hd_cpu_view *v = &p->views[in[i]];
        whole = whole && to_blocked && p->dnnl->same_blocks(md[i], y_md) && v->root < 0 &&
                !v->constant && v->io < 0;
        for (int k = 0; k < i; k++) whole = whole && in[k] != in[i];
    }
    *out_taken = true;
    if (!whole) {
        struct chain none = {.n = 0};
        hd_cpu_scratch(p, (size_t)n->n_in * sizeof(void *) + p->dnnl->scratch(op));
        return finish(p, node, op, &none, n->n_in, in);
    }
    int out = hd_cpu_make(p, n->out[0], form_of(y_md), p->dnnl->bytes(y_md));
    size_t at = 0;
    for (int i = 0; i < n->n_in; i++) { /* blocks of channels follow each other: no copy */
        p->views[in[i]].root = out;
        p->views[in[i]].at = at;
        at += p->dnnl->bytes(md[i]);
    }
    p->dnnl->destroy(op);
    return HD_OK;
}

hd_status hd_cpu_dnnl(struct hd_cpu_plan *p, int node, bool *out_taken) {
    if (!p->dnnl) return HD_OK;
    switch (p->g->nodes[node].op) {
    case HD_IR_conv:
    case HD_IR_convtranspose:
        return plan_conv(p, node, out_taken);
    case HD_IR_gemm:
        return plan_gemm(p, node, out_taken);
    case HD_IR_matmul:
        return plan_matmul(p, node, out_taken);
    case HD_IR_maxpool:
    case HD_IR_avgpool:
        return plan_pool(p, node, out_taken);
    case HD_IR_lrn:
        return plan_lrn(p, node, out_taken);
    case HD_IR_concat:
        return plan_concat(p, node, out_taken);
    default:
        return HD_OK;
    }
}
