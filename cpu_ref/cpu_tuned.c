/* Step maker for works whose schedule was found faster than what else computes them (heddle tune):
 * float convolutions and products with constant weights, and a relu behind them. */
#include "cpu_ref/cpu_tuned.h"

#include "compiler/ir/window.h"
#include "cpu_ref/cpu_kernel.h"

static bool is_f32(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].dtype == HD_F32 && g->tensors[t].known;
}

static bool conv_work(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                      struct hd_tunable *w) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *k = &g->tensors[n->in[1]];
    struct hd_window v;
    if (x->rank < 3 || x->rank > 4 || !hd_tensor_elems(x) || !hd_tensor_elems(k)) return false;
    if (hd_window_get(ctx, n, x, k->dim + 2, &v) != HD_OK) {
        hd_clear(ctx);
        return false;
    }
    int64_t g_ = hd_attr_int(n, "group", 1);
    *w = (struct hd_tunable){.bias = n->n_in > 2 && n->in[2] >= 0,
                             .n = v.n,
                             .g = g_,
                             .m = k->dim[0] / g_,
                             .c = v.c / g_,
                             .h = v.h,
                             .w = v.w,
                             .kh = v.kh,
                             .kw = v.kw,
                             .sy = v.sy,
                             .sx = v.sx,
                             .dy = v.dy,
                             .dx = v.dx,
                             .pt = v.pt,
                             .pl = v.pl,
                             .pb = v.pb,
                             .pr = v.pr,
                             .oh = v.oh,
                             .ow = v.ow};
    hd_tunable_simplify(w);
    return true;
}

static bool product_work(const hd_graph *g, const struct hd_node *n, struct hd_tunable *w) {
    const struct hd_tensor *a = &g->tensors[n->in[0]], *b = &g->tensors[n->in[1]];
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    bool gemm = n->op == HD_IR_gemm, rows = gemm && hd_attr_int(n, "transB", 0);
    int c = n->n_in > 2 ? n->in[2] : -1;
    if (b->rank != 2 || a->rank < 2 || !hd_tensor_elems(y) || !hd_tensor_elems(a)) return false;
    if (gemm && (hd_attr_int(n, "transA", 0) || hd_attr_float(n, "alpha", 1) != 1)) return false;
    if (c >= 0 && (!gemm || hd_attr_float(n, "beta", 1) != 1)) return false;
    *w = (struct hd_tunable){.product = true, .rows = rows, .bias = c >= 0, .n = 1, .g = 1};
    w->m = b->dim[rows ? 0 : 1];
    w->c = b->dim[rows ? 1 : 0];
    w->h = hd_tensor_elems(y) / w->m;
    return c < 0 || hd_tensor_elems(&g->tensors[c]) == w->m;
}

bool hd_cpu_work_of(hd_ctx *ctx, const hd_graph *g, int node, struct hd_tunable *out) {
    const struct hd_node *n = &g->nodes[node];
    bool conv = n->op == HD_IR_conv, product = n->op == HD_IR_gemm || n->op == HD_IR_matmul;
    if ((!conv && !product) || !is_f32(g, n->in[0]) || !is_f32(g, n->in[1])) return false;
    if (!is_f32(g, n->out[0]) || (n->n_in > 2 && n->in[2] >= 0 && !is_f32(g, n->in[2])))
        return false;
    return conv ? conv_work(ctx, g, n, out) : product_work(g, n, out);
}

const char *hd_cpu_device_key(hd_arena *a, const struct hd_jit_api *jit, void *engine,
                              int threads) {
    return hd_sprintf(a, "cpu %s, %d lanes, %d threads", jit->processor(engine), jit->lanes(engine),
                      threads);
}

/* ---- step ----------------------------------------------------------------------------------- */

static hd_status run(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    hd_cpu_kernel_run(s->state, r->at[s->in[0]], r->at[s->out[0]], r->plan->threads);
    return HD_OK;
}

static void destroy(void *state) {
    hd_cpu_kernel_destroy(state);
}

hd_status hd_cpu_tuned(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_tunable w;
    struct hd_schedule_row row;
    struct hd_cpu_kernel *k = NULL;
    int b = n->n_in > 2 ? n->in[2] : -1;
    if (!p->db || !hd_cpu_work_of(p->ctx, p->g, node, &w) || !hd_cpu_need_jit(p)) return HD_OK;
    const float *weights = hd_cpu_const(p, n->in[1]), *bias = b < 0 ? NULL : hd_cpu_const(p, b);
    if (!weights || (b >= 0 && !bias) || hd_cpu_const(p, n->in[0])) return HD_OK;
    int user = hd_cpu_only_user(p, n->out[0]), last = node;
    if (user >= 0 && p->g->nodes[user].op == HD_IR_batchnorm) return HD_OK; /* oneDNN folds it in */
    w.relu = user >= 0 && p->g->nodes[user].op == HD_IR_relu;
    if (w.relu) last = user;
    const char *device = hd_cpu_device_key(p->arena, p->jit, p->jit_engine, p->threads);
    TRY(hd_schedules_best(p->ctx, p->arena, p->db, device, hd_tunable_name(p->arena, &w), &row));
    if (!row.schedule || !*row.schedule) return HD_OK;
    if (hd_cpu_kernel_create(p->ctx, p->jit, p->jit_engine, &w, row.schedule, weights, bias, &k) !=
        HD_OK) {
        hd_clear(p->ctx); /* made by another version: what else computes it does */
        return HD_OK;
    }
    int in, out;
    hd_status s = hd_cpu_need(p, n->in[0], hd_cpu_dense, &in);
    if (s != HD_OK) {
        hd_cpu_kernel_destroy(k);
        return s;
    }
    out = hd_cpu_make(p, p->g->nodes[last].out[0], hd_cpu_dense, 0);
    struct hd_cpu_step *step = hd_cpu_step(p, node, "tuned", 1, &in, 1, &out);
    step->run = run;
    step->state = k;
    step->destroy = destroy;
    step->n_nodes = 1 + w.relu;
    p->done[last] = *out_taken = true;
    return HD_OK;
}
