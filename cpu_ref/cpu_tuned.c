/* Step maker for works whose schedule was found faster than what else computes them (heddle tune):
 * convolutions and products with constant weights, of floats, with a relu behind them, or of
 * bytes. */
#include "cpu_ref/cpu_tuned.h"

#include <math.h>

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
    *w = (struct hd_tunable){.bias = n->op == HD_IR_conv && n->n_in > 2 && n->in[2] >= 0,
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

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool is_byte(const struct hd_tensor *t) {
    return t->known && (t->dtype == HD_I8 || t->dtype == HD_U8);
}

/* The zero point is that of a byte, and the range that of y's type. */
static bool requantises(const hd_graph *g, const struct hd_node *n, struct hd_tunable *w) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *y = &g->tensors[n->out[0]];
    int least_x = x->dtype == HD_I8 ? -128 : 0, least = y->dtype == HD_I8 ? -128 : 0;
    int64_t x_zp = hd_attr_int(n, "x_zp", 0), y_zp = hd_attr_int(n, "y_zp", 0);
    int64_t lo = hd_attr_int(n, "lo", least), hi = hd_attr_int(n, "hi", least + 255);
    w->bytes = true;
    w->x_signed = x->dtype == HD_I8, w->y_signed = y->dtype == HD_I8;
    w->x_zp = (int32_t)x_zp, w->y_zp = (int32_t)y_zp;
    w->lo = (int32_t)lo, w->hi = (int32_t)hi;
    return x_zp >= least_x && x_zp <= least_x + 255 && y_zp >= -512 && y_zp <= 512 && lo >= least &&
           hi <= least + 255 && lo <= hi;
}

static bool bytes_work(hd_ctx *ctx, const hd_graph *g, const struct hd_node *n,
                       struct hd_tunable *w) {
    const struct hd_tensor *x = &g->tensors[n->in[0]], *k = &g->tensors[n->in[1]];
    if (!is_byte(x) || !is_byte(&g->tensors[n->out[0]]) || k->dtype != HD_I8) return false;
    if (n->op == HD_IR_qgemm) {
        if (x->rank != 2 || k->rank != 2 || !hd_tensor_elems(x) || !k->dim[0]) return false;
        *w = (struct hd_tunable){.product = true, .rows = true, .n = 1, .g = 1};
        w->h = x->dim[0], w->c = x->dim[1], w->m = k->dim[0];
    } else if (!conv_work(ctx, g, n, w)) {
        return false;
    }
    return requantises(g, n, w);
}

bool hd_cpu_work_of(hd_ctx *ctx, const hd_graph *g, int node, struct hd_tunable *out) {
    const struct hd_node *n = &g->nodes[node];
    if (n->op == HD_IR_qconv || n->op == HD_IR_qgemm) return bytes_work(ctx, g, n, out);
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

/* The bias, and one scale for each result; false = not constant, or not finite. */
static bool scales(struct hd_cpu_plan *p, const struct hd_node *n, int64_t n_m,
                   struct hd_cpu_constants *c) {
    const float *s = hd_cpu_const(p, n->in[3]);
    int64_t have = hd_tensor_elems(&p->g->tensors[n->in[3]]);
    const struct hd_tensor *b = &p->g->tensors[n->in[2]];
    if (!s || p->g->tensors[n->in[3]].dtype != HD_F32 || (have != 1 && have != n_m)) return false;
    if (b->dtype != HD_I32 || hd_tensor_elems(b) != n_m) return false;
    float *all = hd_new_array(p->arena, float, (size_t)n_m);
    for (int64_t i = 0; i < n_m; i++) {
        all[i] = s[have == 1 ? 0 : i];
        if (!isfinite(all[i])) return false;
    }
    c->scale = all;
    return true;
}

/* What does not change from run to run; false = it does. */
static bool constants(struct hd_cpu_plan *p, const struct hd_node *n, const struct hd_tunable *w,
                      struct hd_cpu_constants *c) {
    int b = n->n_in > 2 ? n->in[2] : -1;
    *c = (struct hd_cpu_constants){hd_cpu_const(p, n->in[1]), b < 0 ? NULL : hd_cpu_const(p, b),
                                   NULL};
    if (!c->weights || (b >= 0 && !c->bias) || hd_cpu_const(p, n->in[0])) return false;
    return !w->bytes || scales(p, n, w->g * w->m, c);
}

/* A sum of bytes behind it is joined by the kernels of cpu_int8.h, a normalisation of floats by
 * oneDNN. */
static bool better_elsewhere(const struct hd_cpu_plan *p, int user) {
    if (user < 0) return false;
    return p->g->nodes[user].op == HD_IR_batchnorm || p->g->nodes[user].op == HD_IR_qadd;
}

hd_status hd_cpu_tuned(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_tunable w;
    struct hd_cpu_constants c;
    struct hd_schedule_row row;
    struct hd_cpu_kernel *k = NULL;
    if (!p->db || !hd_cpu_work_of(p->ctx, p->g, node, &w) || !hd_cpu_need_jit(p)) return HD_OK;
    int user = hd_cpu_only_user(p, n->out[0]), last = node;
    if (better_elsewhere(p, user)) return HD_OK;
    w.relu = !w.bytes && user >= 0 && p->g->nodes[user].op == HD_IR_relu;
    if (w.relu) last = user;
    const char *device = hd_cpu_device_key(p->arena, p->jit, p->jit_engine, p->threads);
    TRY(hd_schedules_best(p->ctx, p->arena, p->db, device, hd_tunable_name(p->arena, &w), &row));
    if (!row.schedule || !*row.schedule || !constants(p, n, &w, &c)) return HD_OK;
    if (hd_cpu_kernel_create(p->ctx, p->jit, p->jit_engine, &w, row.schedule, &c, &k) != HD_OK) {
        const char *why = hd_strdup(p->arena, hd_message(p->ctx));
        hd_clear(p->ctx); /* of another version or processor: what else computes it does */
        hd_warn(p->ctx, "%s: the schedule of '%s' in the file is left out: %s", n->name, row.work,
                why);
        return HD_OK;
    }
    struct hd_cpu_form form = w.bytes && !w.product ? hd_cpu_last : hd_cpu_dense;
    int in, out;
    hd_status s = hd_cpu_need(p, n->in[0], form, &in);
    if (s != HD_OK) {
        hd_cpu_kernel_destroy(k);
        return s;
    }
    out = hd_cpu_make(p, p->g->nodes[last].out[0], form, 0);
    struct hd_cpu_step *step = hd_cpu_step(p, node, "tuned", 1, &in, 1, &out);
    step->run = run;
    step->state = k;
    step->destroy = destroy;
    step->n_nodes = 1 + w.relu;
    p->done[last] = *out_taken = true;
    return HD_OK;
}
