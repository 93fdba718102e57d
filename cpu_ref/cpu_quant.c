/* Step maker for integer operations: kernels of cpu_int8.c, channels last. Every result is
 * bit-equal to golden's; what a kernel's conditions do not cover is left to golden. */
#include <math.h>
#include <string.h>

#include "cpu_ref/cpu_quant.h"
#include "cpu_ref/dnnl_api.h"
#include "runtime/base/num.h"

#ifdef __x86_64__

bool hd_cpu_q_out(const struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_out *o) {
    const struct hd_tensor *y = hd_cpu_tensor(p, n->out[0]);
    bool u8 = y->dtype == HD_U8;
    int64_t lo = u8 ? 0 : -128, hi = u8 ? 255 : 127;
    int64_t zp = hd_attr_int(n, "y_zp", 0), a = hd_attr_int(n, "lo", lo),
            b = hd_attr_int(n, "hi", hi);
    *o = (struct hd_q_out){(int32_t)zp, (int32_t)a, (int32_t)b, !u8};
    return hd_cpu_is_byte(y) && a >= lo && b <= hi && a <= b && zp >= -512 && zp <= 512;
}

/* ---- convolutions and products -------------------------------------------------------------- */

static hd_status run_conv(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    hd_q_conv_run(s->state, r->at[s->in[0]], s->n_in > 1 ? r->at[s->in[1]] : NULL, r->at[s->out[0]],
                  r->scratch);
    return HD_OK;
}

static void destroy_conv(void *c) {
    hd_q_conv_destroy(c);
}

bool hd_cpu_q_pair(const struct hd_cpu_plan *p, const struct hd_node *n, bool swap,
                   struct hd_q_sum *s) {
    const struct hd_tensor *a = hd_cpu_tensor(p, n->in[swap]), *b = hd_cpu_tensor(p, n->in[!swap]);
    int64_t a_zp = hd_attr_int(n, "a_zp", 0), b_zp = hd_attr_int(n, "b_zp", 0);
    float a_scale = hd_attr_float(n, "a_scale", 1), b_scale = hd_attr_float(n, "b_scale", 1);
    *s = (struct hd_q_sum){(int32_t)(swap ? b_zp : a_zp),
                           (int32_t)(swap ? a_zp : b_zp),
                           swap ? b_scale : a_scale,
                           swap ? a_scale : b_scale,
                           a->dtype == HD_I8,
                           b->dtype == HD_I8,
                           {0}};
    return hd_cpu_q_out(p, n, &s->out) && hd_cpu_is_byte(a) && hd_cpu_is_byte(b) &&
           hd_cpu_small_zp(a_zp) && hd_cpu_small_zp(b_zp) && isfinite(a_scale) && isfinite(b_scale);
}

/* A sum whose operands lie as its result does. */
static bool sum_of(const struct hd_cpu_plan *p, const struct hd_node *n, bool swap,
                   struct hd_q_sum *s) {
    int64_t all = hd_tensor_elems(hd_cpu_tensor(p, n->out[0]));
    return hd_tensor_elems(hd_cpu_tensor(p, n->in[0])) == all &&
           hd_tensor_elems(hd_cpu_tensor(p, n->in[1])) == all && hd_cpu_q_pair(p, n, swap, s);
}

/* A residual sum right behind node n that the kernel can do on the way out. -1 = none. */
static int find_sum(const struct hd_cpu_plan *p, const struct hd_node *n,
                    struct hd_q_conv_desc *d) {
    int user = hd_cpu_only_user(p, n->out[0]);
    if (user < 0 || p->g->nodes[user].op != HD_IR_qadd) return -1;
    const struct hd_node *u = &p->g->nodes[user];
    bool swap = u->in[1] == n->out[0];
    int other = u->in[!swap];
    if (other == n->out[0] || (p->view_of[other] < 0 && !hd_cpu_const(p, other))) return -1;
    if (!sum_of(p, u, swap, &d->sum)) return -1;
    d->has_sum = true;
    return user;
}

const float *hd_cpu_q_scales(struct hd_cpu_plan *p, int id, int64_t n) {
    const float *s = hd_cpu_const(p, id);
    int64_t have = hd_tensor_elems(hd_cpu_tensor(p, id));
    if (!s || hd_cpu_tensor(p, id)->dtype != HD_F32 || (have != n && have != 1)) return NULL;
    for (int64_t i = 0; i < have; i++)
        if (!isfinite(s[i])) return NULL;
    if (have == n) return s;
    float *all = hd_new_array(p->arena, float, (size_t)n);
    for (int64_t i = 0; i < n; i++) all[i] = *s;
    return all;
}

bool hd_cpu_q_conv(struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_conv_desc *d) {
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *w = hd_cpu_tensor(p, n->in[1]);
    int64_t zp = hd_attr_int(n, "x_zp", 0);
    *d = (struct hd_q_conv_desc){.w = hd_cpu_const(p, n->in[1]),
                                 .wide = w->dtype == HD_I16,
                                 .bias = hd_cpu_const(p, n->in[2]),
                                 .scale = hd_cpu_q_scales(p, n->in[3], w->dim[0]),
                                 .x_zp = (int32_t)zp,
                                 .x_signed = x->dtype == HD_I8,
                                 .m_all = w->dim[0],
                                 .group = 1,
                                 .lanes = hd_q_lanes()};
    int64_t lowest = d->x_signed ? -128 : 0; /* padding is stored as the zero point */
    return d->w && d->bias && d->scale && hd_cpu_is_byte(x) && zp >= lowest && zp <= lowest + 255 &&
           (w->dtype == HD_I8 || w->dtype == HD_I16) && hd_cpu_q_out(p, n, &d->out) &&
           hd_cpu_tensor(p, n->in[2])->dtype == HD_I32 &&
           hd_tensor_elems(hd_cpu_tensor(p, n->in[2])) == d->m_all && hd_tensor_elems(x) &&
           d->m_all;
}

/* Fills d for a node that the kernel takes; false otherwise. */
static hd_status describe(struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_conv_desc *d,
                          bool *out_fits) {
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *w = hd_cpu_tensor(p, n->in[1]);
    *out_fits = false;
    if (!hd_cpu_q_conv(p, n, d)) return HD_OK;
    if (n->op == HD_IR_qgemm) {
        if (x->rank != 2 || w->rank != 2) return HD_OK;
        d->v = (struct hd_window){.n = 1, .c = x->dim[1], .h = 1, .w = x->dim[0]};
        d->v.oh = 1, d->v.ow = x->dim[0];
        d->v.kh = d->v.kw = d->v.sy = d->v.sx = d->v.dy = d->v.dx = 1;
    } else {
        if (x->rank < 3 || x->rank > 4) return HD_OK;
        TRY(hd_window_get(p->ctx, n, x, w->dim + 2, &d->v));
        d->group = hd_attr_int(n, "group", 1);
    }
    *out_fits = hd_q_offsets_fit(&d->v);
    return HD_OK;
}

/* Every partial sum is a whole number below 2^24, so that adding bias and zero points in binary32,
 * as oneDNN does, is as exact as golden's int32. */
static bool sums_are_small(const struct hd_q_conv_desc *d) {
    int64_t per = d->v.c / d->group * d->v.kh * d->v.kw;
    for (int64_t m = 0; m < d->m_all; m++) {
        int64_t sum = 0, bias = d->bias[m];
        for (int64_t i = 0; i < per; i++) {
            int w = ((const int8_t *)d->w)[m * per + i];
            sum += w < 0 ? -w : w;
        }
        if (2 * 255 * sum + (bias < 0 ? -bias : bias) >= 1 << 24) return false;
    }
    return true;
}

/* Would oneDNN's kernel be faster than ours, and as exact? */
static bool onednn_is_better(const struct hd_cpu_plan *p, const struct hd_q_conv_desc *d) {
    if (!p->dnnl || d->wide || !p->dnnl->exact_int8(p->dnnl_engine)) return false;
    if (d->lanes && !p->dnnl->has_amx(p->dnnl_engine)) return false;
    return sums_are_small(d) && hd_cpu_trial_int8(p->dnnl, p->dnnl_engine);
}

/* oneDNN's kernel for it; NULL = ours. */
static hd_dnnl_op *onednn_conv(const struct hd_cpu_plan *p, const struct hd_q_conv_desc *d,
                               int32_t type_lo, int32_t type_hi) {
    if (!onednn_is_better(p, d)) return NULL;
    const struct hd_window *v = &d->v;
    struct hd_dnnl_qconv q = {.n = v->n,
                              .c = v->c,
                              .h = v->h,
                              .w = v->w,
                              .m = d->m_all,
                              .oh = v->oh,
                              .ow = v->ow,
                              .kh = v->kh,
                              .kw = v->kw,
                              .sy = v->sy,
                              .sx = v->sx,
                              .dy = v->dy,
                              .dx = v->dx,
                              .pt = v->pt,
                              .pl = v->pl,
                              .group = d->group,
                              .x_signed = d->x_signed,
                              .y_signed = d->out.is_signed,
                              .x_zp = d->x_zp,
                              .y_zp = d->out.zp,
                              .clip = d->out.lo != type_lo || d->out.hi != type_hi,
                              .clip_lo = (float)(d->out.lo - d->out.zp),
                              .clip_hi = (float)(d->out.hi - d->out.zp),
                              .w_data = d->w,
                              .bias = d->bias,
                              .scale = d->scale};
    /* cppcheck-suppress returnDanglingLifetime ; the plugin copies q */
    return p->dnnl->qconv(p->dnnl_engine, &q);
}

static hd_status plan_conv(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_q_conv_desc d;
    bool fits = false;
    TRY(describe(p, n, &d, &fits));
    if (!fits) return HD_OK;
    struct hd_cpu_form form = n->op == HD_IR_qgemm ? hd_cpu_dense : hd_cpu_last;
    int in[2], out, sum, result = n->out[0];
    TRY(hd_cpu_need(p, n->in[0], form, &in[0]));
    bool u8 = hd_cpu_tensor(p, result)->dtype == HD_U8;
    hd_dnnl_op *op = onednn_conv(p, &d, u8 ? 0 : -128, u8 ? 255 : 127);
    if (op) { /* a sum behind it is a step of its own */
        hd_cpu_dnnl_step(p, node, op, 1, in, hd_cpu_make(p, result, form, 0));
        *out_taken = true;
        return HD_OK;
    }
    sum = find_sum(p, n, &d);
    if (sum >= 0) {
        const struct hd_node *u = &p->g->nodes[sum];
        TRY(hd_cpu_need(p, u->in[u->in[1] != n->out[0]], form, &in[1]));
        result = u->out[0];
        p->done[sum] = true;
    }
    hd_q_conv *c = hd_q_conv_create(&d, p->threads);
    if (!c) return hd_fail(p->ctx, HD_NOMEM, "cpu: no memory for the weights of %s", n->name);
    out = hd_cpu_make(p, result, form, 0);
    hd_cpu_scratch(p, hd_q_conv_scratch(c));
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", sum >= 0 ? 2 : 1, in, 1, &out);
    s->n_nodes = sum >= 0 ? 2 : 1;
    s->run = run_conv;
    s->state = c;
    s->destroy = destroy_conv;
    *out_taken = true;
    return HD_OK;
}

/* ---- elementwise ---------------------------------------------------------------------------- */

struct hd_cpu_form hd_cpu_cheapest(const struct hd_cpu_plan *p, const struct hd_node *n) {
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && p->view_of[n->in[i]] >= 0 && !hd_cpu_has(p, n->in[i], HD_CPU_DENSE) &&
            hd_cpu_has(p, n->in[i], HD_CPU_LAST))
            return hd_cpu_last;
    return hd_cpu_dense;
}

struct map { /* one tensor in, one out */
    enum hd_ir_op op;
    struct hd_q_out out;
    struct hd_window v;
    int32_t x_zp;
    float scale, x_scale;
    bool x_signed, with_pads;
    int64_t n, c, pixels, count;
};

static hd_status run_map(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct map *m = s->state;
    const void *x = r->at[s->in[0]];
    void *y = r->at[s->out[0]];
    switch (m->op) {
    case HD_IR_qmaxpool:
        hd_q_maxpool_run(&m->v, m->x_signed, x, y);
        break;
    case HD_IR_qavgpool:
        hd_q_avgpool_run(&m->v, m->with_pads, m->x_signed, m->x_zp, m->scale, m->out, x, y);
        break;
    case HD_IR_qmean:
        hd_q_mean_run(m->n, m->pixels, m->c, m->x_signed, m->x_zp, m->x_scale, m->scale, m->out, x,
                      y);
        break;
    case HD_IR_qrescale:
        hd_q_rescale_run(x, m->x_signed, m->x_zp, m->scale, m->out, y, m->count);
        break;
    case HD_IR_quantize:
        hd_q_quantize_run(m->n, m->c, m->pixels, x, m->scale, m->out, y);
        break;
    default:
        hd_q_dequantize_run(x, m->x_signed, m->x_zp, m->scale, y, m->count);
    }
    return HD_OK;
}

static void map_step(struct hd_cpu_plan *p, int node, const struct map *m, int in, int out) {
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 1, &in, 1, &out);
    s->run = run_map;
    s->state = hd_dup(p->arena, m, sizeof *m);
}

static hd_status plan_pool(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *y = hd_cpu_tensor(p, n->out[0]);
    int64_t zp = hd_attr_int(n, "x_zp", 0);
    struct map m = {.op = n->op,
                    .x_signed = x->dtype == HD_I8,
                    .with_pads = hd_attr_int(n, "count_include_pad", 0) != 0,
                    .x_zp = (int32_t)zp,
                    .scale = hd_attr_float(n, "scale", 1),
                    .x_scale = hd_attr_float(n, "x_scale", 1)};
    bool fits = hd_cpu_is_byte(x) && hd_cpu_is_byte(y) && hd_cpu_small_zp(zp) &&
                isfinite(m.scale) && isfinite(m.x_scale) && x->rank >= 3 && x->rank <= 4 &&
                hd_tensor_elems(y) && hd_tensor_elems(x);
    if (n->op != HD_IR_qmaxpool) fits = hd_cpu_q_out(p, n, &m.out) && fits;
    if (!fits || (n->op == HD_IR_qmaxpool && n->n_out > 1)) return HD_OK;
    if (n->op == HD_IR_qmean) {
        m.n = x->dim[0], m.c = x->dim[1], m.pixels = 1;
        for (int d = 2; d < x->rank; d++) m.pixels *= x->dim[d];
    } else {
        TRY(hd_window_get(p->ctx, n, x, NULL, &m.v));
    }
    int in;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_last, &in));
    map_step(p, node, &m, in, hd_cpu_make(p, n->out[0], hd_cpu_last, 0));
    *out_taken = true;
    return HD_OK;
}

enum { RESIZE_CHANNELS = 16 };

static hd_status run_resize(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    hd_q_resize_run(s->state, r->at[s->in[0]], r->at[s->out[0]]);
    return HD_OK;
}

/* Constant places of an image with `size` of them, and finite weights. */
static bool places(const int32_t *at, const float *by, int64_t n, int64_t size) {
    bool fit = at && by;
    for (int64_t i = 0; fit && i < n; i++)
        fit = at[i] >= 0 && at[i] < size && isfinite(by[2 * i]) && isfinite(by[2 * i + 1]);
    return fit;
}

/* Of few channels golden, which goes along rows of a plane, is faster. */
static hd_status plan_resize(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *y = hd_cpu_tensor(p, n->out[0]);
    const bool image = x->rank == 4;
    struct hd_q_resize r = {.row = hd_cpu_const(p, n->in[1]),
                            .a = hd_cpu_const(p, n->in[2]),
                            .col = hd_cpu_const(p, n->in[3]),
                            .b = hd_cpu_const(p, n->in[4]),
                            .x_zp = (int32_t)hd_attr_int(n, "x_zp", 0),
                            .x_signed = x->dtype == HD_I8};
    if (x->rank < 3 || x->dim[1] < RESIZE_CHANNELS || !hd_cpu_is_byte(x) ||
        !hd_cpu_q_out(p, n, &r.out) || !hd_tensor_elems(y) || !hd_cpu_small_zp(r.x_zp))
        return HD_OK;
    r.n = x->dim[0], r.c = x->dim[1];
    r.h = image ? x->dim[2] : 1, r.oh = image ? y->dim[2] : 1;
    r.w = x->dim[x->rank - 1], r.ow = y->dim[y->rank - 1];
    if (!places(r.row, r.a, r.oh, r.h) || !places(r.col, r.b, r.ow, r.w)) return HD_OK;
    int in, out;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_last, &in));
    out = hd_cpu_make(p, n->out[0], hd_cpu_last, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 1, &in, 1, &out);
    s->run = run_resize;
    s->state = hd_dup(p->arena, &r, sizeof r);
    *out_taken = true;
    return HD_OK;
}

static hd_status run_sum(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    hd_q_sum_run(s->state, r->at[s->in[0]], r->at[s->in[1]], r->at[s->out[0]],
                 (int64_t)r->plan->views[s->out[0]].bytes);
    return HD_OK;
}

static hd_status plan_sum(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_q_sum sum;
    if (!sum_of(p, n, false, &sum)) return HD_OK;
    struct hd_cpu_form form = hd_cpu_cheapest(p, n);
    int in[2];
    for (int i = 0; i < 2; i++) TRY(hd_cpu_need(p, n->in[i], form, &in[i]));
    int out = hd_cpu_make(p, n->out[0], form, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 2, in, 1, &out);
    s->run = run_sum;
    s->state = hd_dup(p->arena, &sum, sizeof sum);
    *out_taken = true;
    return HD_OK;
}

static hd_status plan_rescale(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]);
    int64_t zp = hd_attr_int(n, "x_zp", 0);
    struct map m = {.op = n->op,
                    .x_zp = (int32_t)zp,
                    .scale = hd_attr_float(n, "scale", 1),
                    .x_signed = x->dtype == HD_I8,
                    .count = hd_tensor_elems(x)};
    if (!hd_cpu_is_byte(x) || !hd_cpu_q_out(p, n, &m.out) || !hd_cpu_small_zp(zp) ||
        !isfinite(m.scale))
        return HD_OK;
    struct hd_cpu_form form = hd_cpu_cheapest(p, n);
    int in;
    TRY(hd_cpu_need(p, n->in[0], form, &in));
    map_step(p, node, &m, in, hd_cpu_make(p, n->out[0], form, 0));
    *out_taken = true;
    return HD_OK;
}

/* One scale and zero point, both constant; zp defaults to 0. */
static bool one_scale(const struct hd_cpu_plan *p, const struct hd_node *n, hd_dtype type,
                      float *scale, int32_t *zp) {
    const float *s = hd_cpu_const(p, n->in[1]);
    const struct hd_tensor *t = hd_cpu_tensor(p, n->in[1]);
    *zp = 0;
    if (!s || t->dtype != HD_F32 || hd_tensor_elems(t) != 1) return false;
    *scale = *s;
    if (n->n_in < 3 || n->in[2] < 0) return true;
    const void *z = hd_cpu_const(p, n->in[2]);
    if (!z || hd_cpu_tensor(p, n->in[2])->dtype != type) return false;
    *zp = type == HD_I8 ? *(const int8_t *)z : *(const uint8_t *)z;
    return true;
}

static bool wants_last(const struct hd_cpu_plan *p, int t) {
    for (int i = 0; i < p->users[t]; i++) {
        enum hd_ir_op op = p->g->nodes[p->user[t][i]].op;
        if (op == HD_IR_qconv || op == HD_IR_qmaxpool || op == HD_IR_qavgpool || op == HD_IR_qmean)
            return hd_cpu_tensor(p, t)->rank >= 3;
    }
    return false;
}

static hd_status plan_quantize(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *y = hd_cpu_tensor(p, n->out[0]);
    struct map m = {.op = n->op, .n = 1, .c = 1, .pixels = hd_tensor_elems(x)};
    if (!hd_cpu_is_byte(y) || x->dtype != HD_F32 || hd_attr_get(n, "saturate") ||
        !one_scale(p, n, y->dtype, &m.scale, &m.out.zp))
        return HD_OK;
    bool u8 = y->dtype == HD_U8, last = wants_last(p, n->out[0]);
    m.out.lo = u8 ? 0 : -128, m.out.hi = u8 ? 255 : 127, m.out.is_signed = !u8;
    if (last && m.pixels) {
        m.n = x->dim[0], m.c = x->dim[1];
        m.pixels /= m.n * m.c;
    }
    int in;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    map_step(p, node, &m, in, hd_cpu_make(p, n->out[0], last ? hd_cpu_last : hd_cpu_dense, 0));
    *out_taken = true;
    return HD_OK;
}

static hd_status plan_dequantize(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    const struct hd_tensor *x = hd_cpu_tensor(p, n->in[0]), *y = hd_cpu_tensor(p, n->out[0]);
    struct map m = {.op = n->op, .x_signed = x->dtype == HD_I8, .count = hd_tensor_elems(x)};
    if (!hd_cpu_is_byte(x) || y->dtype != HD_F32 || !one_scale(p, n, x->dtype, &m.scale, &m.x_zp))
        return HD_OK;
    struct hd_cpu_form form = hd_cpu_cheapest(p, n);
    int in;
    TRY(hd_cpu_need(p, n->in[0], form, &in));
    map_step(p, node, &m, in, hd_cpu_make(p, n->out[0], form, 0));
    *out_taken = true;
    return HD_OK;
}

hd_status hd_cpu_int8(struct hd_cpu_plan *p, int node, bool *out_taken) {
    if (!hd_q_available()) return HD_OK;
    switch (p->g->nodes[node].op) {
    case HD_IR_qconv:
    case HD_IR_qgemm:
        return plan_conv(p, node, out_taken);
    case HD_IR_qadd:
        TRY(plan_sum(p, node, out_taken));
        return *out_taken ? HD_OK : hd_cpu_q_rows(p, node, out_taken);
    case HD_IR_qmul:
    case HD_IR_qmatmul:
    case HD_IR_qsoftmax:
    case HD_IR_qlayernorm:
    case HD_IR_qtable:
        return hd_cpu_q_rows(p, node, out_taken);
    case HD_IR_qconvtranspose:
        return hd_cpu_q_phases(p, node, out_taken);
    case HD_IR_qlstm:
    case HD_IR_qgru:
    case HD_IR_qrnn:
        return hd_cpu_q_recurrent(p, node, out_taken);
    case HD_IR_qmaxpool:
    case HD_IR_qavgpool:
    case HD_IR_qmean:
        return plan_pool(p, node, out_taken);
    case HD_IR_qresize:
        return plan_resize(p, node, out_taken);
    case HD_IR_qrescale:
        return plan_rescale(p, node, out_taken);
    case HD_IR_quantize:
        return plan_quantize(p, node, out_taken);
    case HD_IR_dequantize:
        return plan_dequantize(p, node, out_taken);
    default:
        return HD_OK;
    }
}

#else

hd_status hd_cpu_int8(struct hd_cpu_plan *p, int node, bool *out_taken) {
    (void)p, (void)node, (void)out_taken;
    return HD_OK;
}

#endif
