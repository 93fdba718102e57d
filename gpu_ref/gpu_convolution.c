/* Step maker for float convolutions that a library of the GPU's vendor computes: of f32, in one to
 * three dimensions. With a bias, the add of a tensor and the relu behind them are part of the call,
 * as far as the library takes that. Small ones, and those that it does not take, are kernels of
 * ours; a step says why. */
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

/* Nodes behind the convolution that the library computes with it: only behind a bias does it. */
static void take_behind(const struct hd_gpu_plan *p, struct hd_gpu_convolution *c,
                        struct hd_gpu_library_work *w) {
    int t = p->g->nodes[w->node[0]].out[0];
    if (!c->bias) return;
    int add = hd_gpu_sole_reader(p, t, HD_IR_add);
    int residual = add < 0 ? -1 : residual_of(p, add, t);
    if (residual >= 0) {
        c->residual = true;
        w->in[w->n_in++] = residual;
        w->node[w->n++] = add;
        t = p->g->nodes[add].out[0];
    }
    int relu = hd_gpu_sole_reader(p, t, HD_IR_relu);
    if (relu < 0) return;
    c->relu = true;
    w->node[w->n++] = relu;
}

static hd_status call(struct hd_gpu_plan *p, const struct hd_gpu_convolution *c,
                      const struct hd_gpu_library_work *w, const char **out_why, bool *out_taken) {
    hd_gpu_library *library = NULL;
    struct hd_gpu_library_facts facts = {0};
    if (p->api->convolution(p->ctx, p->gpu, c, &facts, &library) != HD_OK) {
        *out_why = hd_strdup(p->arena, hd_message(p->ctx));
        hd_clear(p->ctx);
        return HD_OK;
    }
    *out_taken = true;
    return hd_gpu_library_step(p, w, "cuDNN", &facts, library);
}

hd_status hd_gpu_convolutions(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_gpu_convolution c, alone;
    if (!p->gpu || p->tuning.only || !p->api->convolution || !fits(p, n, &c)) return HD_OK;
    struct hd_gpu_library_work w = {.n = 1,
                                    .node = {node},
                                    .n_in = c.bias ? 3 : 2,
                                    .in = {n->in[0], n->in[1], c.bias ? n->in[2] : -1}};
    struct hd_gpu_library_work w_alone = w;
    const char *why = p->api->no_convolutions();
    alone = c;
    if (!why) {
        take_behind(p, &c, &w);
        TRY(call(p, &c, &w, &why, out_taken));
        if (!*out_taken && w.n > 1) TRY(call(p, &alone, &w_alone, &why, out_taken));
    }
    if (!*out_taken)
        p->how = hd_sprintf(p->arena, "%s in f32; not by cuDNN: %s", p->api->scheme, why);
    return HD_OK;
}
