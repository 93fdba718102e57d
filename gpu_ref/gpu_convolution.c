/* Step maker for float convolutions that a library of the GPU's vendor computes: of f32, in one to
 * three dimensions. A batch normalisation, the add of a tensor and a relu behind it are part of the
 * call, as far as the library takes that. Small ones, and those that it does not take, are kernels
 * of ours; a step says why. */
#include <math.h>

#include "compiler/ir/window.h"
#include "gpu_ref/gpu_library.h"

/* Window v; one dimension is the last of two. */
static bool geometry(const struct hd_window_nd *v, struct hd_gpu_convolution *c) {
    if (v->sp > 3) return false;
    c->dims = v->sp == 1 ? 2 : v->sp;
    for (int i = 0; i < c->dims; i++) {
        int d = i - (c->dims - v->sp);
        bool is = d >= 0;
        c->in[i] = is ? v->in[d] : 1;
        c->out[i] = is ? v->out[d] : 1;
        c->kernel[i] = is ? v->kernel[d] : 1;
        c->stride[i] = is ? v->stride[d] : 1;
        c->dilation[i] = is ? v->dilation[d] : 1;
        c->before[i] = is ? v->before[d] : 0;
        c->after[i] = is ? v->after[d] : 0;
        if (c->before[i] < 0 || c->after[i] < 0) return false;
    }
    return true;
}

static bool fits(const struct hd_gpu_plan *p, const struct hd_node *n,
                 struct hd_gpu_convolution *out) {
    const struct hd_tensor *t[3] = {NULL, NULL, NULL};
    struct hd_window_nd v;
    if (n->op != HD_IR_conv || hd_node_macs(p->g, n) < HD_GPU_LIBRARY_MACS) return false;
    for (int i = 0; i < n->n_in && i < 3; i++) {
        if (n->in[i] < 0) continue;
        t[i] = &p->g->tensors[n->in[i]];
        if (t[i]->dtype != HD_F32) return false;
    }
    if (hd_window_nd_get(p->ctx, n, t[0], t[1]->dim + 2, &v) != HD_OK) {
        hd_clear(p->ctx);
        return false;
    }
    *out = (struct hd_gpu_convolution){.batches = v.n,
                                       .channels = v.c,
                                       .features = t[1]->dim[0],
                                       .groups = hd_attr_int(n, "group", 1),
                                       .precision = p->asked.precision,
                                       .bias = t[2] != NULL};
    return geometry(&v, out) && (!t[2] || hd_tensor_elems(t[2]) == out->features);
}

/* What an add adds to tensor t, if that is there and has t's shape; else -1. */
static int residual_of(const struct hd_gpu_plan *p, int add, int t) {
    const struct hd_node *n = &p->g->nodes[add];
    int other = n->in[n->in[0] == t];
    const struct hd_tensor *a = &p->g->tensors[t], *b = &p->g->tensors[other];
    bool same = a->rank == b->rank && b->dtype == HD_F32;
    for (int d = 0; same && d < a->rank; d++) same = a->dim[d] == b->dim[d];
    bool there = p->view_of[other] >= 0 || hd_gpu_const(p, other);
    return same && there ? other : -1;
}

/* A view of n numbers that are no tensor of the graph. */
static int numbers(struct hd_gpu_plan *p, const float *v, int64_t n) {
    int view = hd_gpu_make(p, -1, (size_t)n * sizeof *v);
    p->views[view].constant = v;
    return view;
}

/* A batch normalisation behind the convolution, all of constants, becomes its weights and bias. */
static void fold_batchnorm(struct hd_gpu_plan *p, struct hd_gpu_convolution *c,
                           struct hd_gpu_library_work *w) {
    const struct hd_node *conv = &p->g->nodes[w->node[0]];
    int norm = hd_gpu_sole_reader(p, conv->out[0], HD_IR_batchnorm);
    const float *from = hd_gpu_const(p, conv->in[1]);
    const float *bias = c->bias ? hd_gpu_const(p, conv->in[2]) : NULL, *v[4];
    if (norm < 0 || p->g->nodes[norm].in[0] != conv->out[0] || !from || (c->bias && !bias)) return;
    const struct hd_node *n = &p->g->nodes[norm];
    for (int i = 0; i < 4; i++) {
        v[i] = hd_gpu_const(p, n->in[1 + i]);
        if (!v[i] || p->g->tensors[n->in[1 + i]].dtype != HD_F32) return;
    }
    int64_t each = hd_tensor_elems(&p->g->tensors[conv->in[1]]) / c->features;
    float *to = hd_new_array(p->arena, float, (size_t)(each * c->features));
    float *b = hd_new_array(p->arena, float, (size_t)c->features);
    double epsilon = (double)hd_attr_float(n, "epsilon", 1e-5f);
    for (int64_t m = 0; m < c->features; m++) {
        double k = (double)v[0][m] / sqrt((double)v[3][m] + epsilon);
        b[m] = (float)((double)v[1][m] + ((bias ? (double)bias[m] : 0) - (double)v[2][m]) * k);
        for (int64_t i = m * each; i < (m + 1) * each; i++) to[i] = (float)((double)from[i] * k);
    }
    w->in[1] = numbers(p, to, each * c->features);
    w->in[2] = numbers(p, b, c->features);
    w->n_in = 3;
    w->node[w->n++] = norm;
    c->bias = true;
}

/* An add and a relu behind it, that the library computes with it: behind a bias, so there is one.
 */
static hd_status take_behind(struct hd_gpu_plan *p, struct hd_gpu_convolution *c,
                             struct hd_gpu_library_work *w) {
    int t = p->g->nodes[w->node[w->n - 1]].out[0];
    int add = hd_gpu_sole_reader(p, t, HD_IR_add);
    int residual = add < 0 ? -1 : residual_of(p, add, t);
    c->residual = residual >= 0;
    if (c->residual) t = p->g->nodes[w->node[w->n++] = add].out[0];
    int relu = hd_gpu_sole_reader(p, t, HD_IR_relu);
    c->relu = relu >= 0;
    if (c->relu) w->node[w->n++] = relu;
    if (!c->bias && (c->residual || c->relu)) {
        w->in[w->n_in++] =
            numbers(p, hd_new_array(p->arena, float, (size_t)c->features), c->features);
        c->bias = true;
    }
    return c->residual ? hd_gpu_need(p, residual, &w->in[w->n_in++]) : HD_OK;
}

/* NULL: it is a step. Else why the library does not take it. */
static const char *call(struct hd_gpu_plan *p, const struct hd_gpu_convolution *c,
                        const struct hd_gpu_library_work *w) {
    hd_gpu_library *library = NULL;
    struct hd_gpu_library_facts facts = {0};
    if (p->api->convolution(p->ctx, p->gpu, c, &facts, &library) != HD_OK) {
        const char *why = hd_strdup(p->arena, hd_message(p->ctx));
        hd_clear(p->ctx);
        return why;
    }
    hd_gpu_library_step(p, w, "cuDNN", &facts, library);
    return NULL;
}

hd_status hd_gpu_convolutions(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_gpu_convolution c;
    if (!p->gpu || p->tuning.only || !p->api->convolution || !fits(p, n, &c)) return HD_OK;
    struct hd_gpu_library_work w = {.n = 1, .node = {node}, .n_in = c.bias ? 3 : 2};
    const char *why = p->api->no_convolutions();
    for (int i = 0; i < w.n_in; i++) TRY(hd_gpu_need(p, n->in[i], &w.in[i]));
    if (!why) {
        fold_batchnorm(p, &c, &w);
        struct hd_gpu_convolution alone = c;
        struct hd_gpu_library_work w_alone = w;
        TRY(take_behind(p, &c, &w));
        why = call(p, &c, &w);
        if (why && w.n > w_alone.n) why = call(p, &alone, &w_alone);
    }
    if (why) p->how = hd_sprintf(p->arena, "%s in f32; not by cuDNN: %s", p->api->scheme, why);
    *out_taken = !why;
    return HD_OK;
}
