/* Step maker for layers whose operands are quantised while they run: DynamicQuantizeLinear, and
 * products of bytes that leave int32, by the kernels of cpu_int8.h. Every result is bit-equal to
 * golden's. Weights are constant; a cast of the sums to float behind is part of the step. */
#include "cpu_ref/cpu_int8.h"
#include "cpu_ref/cpu_plan.h"

#ifdef __x86_64__

static const struct hd_tensor *tensor(const struct hd_cpu_plan *p, int id) {
    return &p->g->tensors[id];
}

static bool is_byte(const struct hd_tensor *t) {
    return t->dtype == HD_I8 || t->dtype == HD_U8;
}

static int operand(const struct hd_node *n, int i) {
    return i < n->n_in ? n->in[i] : -1;
}

/* ---- quantize ------------------------------------------------------------------------------- */

static hd_status run_quantize(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const int64_t *n = s->state;
    hd_q_dynamic_run(r->at[s->in[0]], *n, r->at[s->out[0]], r->at[s->out[1]], r->at[s->out[2]]);
    return HD_OK;
}

static hd_status plan_quantize(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    int64_t elems = hd_tensor_elems(tensor(p, n->in[0]));
    int in, out[3];
    if (tensor(p, n->in[0])->dtype != HD_F32 || n->n_out != 3 || !elems) return HD_OK;
    for (int i = 0; i < 3; i++)
        if (n->out[i] < 0) return HD_OK;
    TRY(hd_cpu_need(p, n->in[0], hd_cpu_dense, &in));
    for (int i = 0; i < 3; i++) out[i] = hd_cpu_make(p, n->out[i], hd_cpu_dense, 0);
    struct hd_cpu_step *s = hd_cpu_step(p, node, "int8", 1, &in, 3, out);
    s->run = run_quantize;
    s->state = hd_dup(p->arena, &elems, sizeof elems);
    *out_taken = true;
    return HD_OK;
}

/* ---- products ------------------------------------------------------------------------------- */

struct sums {
    hd_q_conv *c;
    bool is_signed; /* x and its zero point */
};

static hd_status run_sums(struct hd_cpu_run *r, const struct hd_cpu_step *s) {
    const struct sums *k = s->state;
    int32_t zp = 0;
    if (s->n_in > 1) {
        const void *at = r->at[s->in[1]];
        zp = k->is_signed ? *(const int8_t *)at : *(const uint8_t *)at;
    }
    hd_q_conv_run_sums(k->c, r->at[s->in[0]], zp, r->at[s->out[0]], r->scratch);
    return HD_OK;
}

static void destroy_sums(void *state) {
    const struct sums *k = state;
    hd_q_conv_destroy(k->c);
}

/* Weights less their zero points, [m][k]; `turned`: they lie as [k][m]. NULL = they are not known
 * before the run. */
static int16_t *weights_of(struct hd_cpu_plan *p, const struct hd_node *n, int64_t m, int64_t k,
                           bool turned) {
    const uint8_t *w = hd_cpu_const(p, n->in[1]), *zero = NULL;
    const bool is_signed = tensor(p, n->in[1])->dtype == HD_I8;
    int z = operand(n, 3);
    int64_t n_zeros = z < 0 ? 1 : hd_tensor_elems(tensor(p, z));
    if (z >= 0) zero = hd_cpu_const(p, z);
    if (!w || !is_byte(tensor(p, n->in[1])) || (z >= 0 && !zero)) return NULL;
    if ((n_zeros != 1 && n_zeros != m) || (z >= 0 && tensor(p, z)->rank > 1)) return NULL;
    int16_t *to = hd_new_array(p->arena, int16_t, (size_t)(m * k));
    for (int64_t i = 0; i < m; i++) {
        uint8_t at = zero ? zero[n_zeros == 1 ? 0 : i] : 0;
        for (int64_t j = 0; j < k; j++) {
            uint8_t v = w[turned ? j * m + i : i * k + j];
            to[i * k + j] = (int16_t)(is_signed ? (int8_t)v - (int8_t)at : v - at);
        }
    }
    return to;
}

/* The window and the weights; false = not for us. */
static bool describe(struct hd_cpu_plan *p, const struct hd_node *n, struct hd_q_conv_desc *d) {
    const struct hd_tensor *x = tensor(p, n->in[0]), *w = tensor(p, n->in[1]);
    bool conv = n->op == HD_IR_convinteger;
    int zp = operand(n, 2);
    *d = (struct hd_q_conv_desc){
        .wide = true, .x_signed = x->dtype == HD_I8, .group = 1, .lanes = hd_q_lanes()};
    if (!d->lanes || !is_byte(x) || !hd_tensor_elems(x) || !hd_tensor_elems(w)) return false;
    if (zp >= 0 && (tensor(p, zp)->dtype != x->dtype || hd_tensor_elems(tensor(p, zp)) != 1))
        return false;
    if (conv) {
        if (x->rank < 3 || x->rank > 4) return false;
        if (hd_window_get(p->ctx, n, x, w->dim + 2, &d->v) != HD_OK) {
            hd_clear(p->ctx);
            return false;
        }
        d->m_all = w->dim[0];
        d->group = hd_attr_int(n, "group", 1);
    } else {
        if (x->rank < 2 || w->rank != 2) return false;
        int64_t k = w->dim[0], rows = hd_tensor_elems(x) / k;
        d->v = (struct hd_window){.n = 1, .c = k, .h = 1, .w = rows, .oh = 1, .ow = rows};
        d->v.kh = d->v.kw = d->v.sy = d->v.sx = d->v.dy = d->v.dx = 1;
        d->m_all = w->dim[1];
    }
    d->w = weights_of(p, n, d->m_all, d->v.c / d->group * d->v.kh * d->v.kw, !conv);
    return d->w && hd_q_offsets_fit(&d->v);
}

static hd_status plan_sums(struct hd_cpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_cpu_form form = n->op == HD_IR_convinteger ? hd_cpu_last : hd_cpu_dense;
    struct hd_q_conv_desc d;
    int in[2], n_in = 1, out, result = n->out[0], cast = hd_cpu_only_user(p, result);
    if (!describe(p, n, &d)) return HD_OK;
    d.result = HD_Q_INT32;
    if (cast >= 0 && p->g->nodes[cast].op == HD_IR_cast &&
        tensor(p, p->g->nodes[cast].out[0])->dtype == HD_F32) {
        d.result = HD_Q_FLOAT;
        result = p->g->nodes[cast].out[0];
    }
    hd_q_conv *c = hd_q_conv_create(&d, p->threads);
    if (!c) return HD_OK;
    struct sums *k = hd_new(p->arena, struct sums);
    *k = (struct sums){c, d.x_signed};
    hd_status s = hd_cpu_need(p, n->in[0], form, &in[0]);
    if (s == HD_OK && operand(n, 2) >= 0) s = hd_cpu_need(p, n->in[2], hd_cpu_dense, &in[n_in++]);
    if (s != HD_OK) {
        hd_q_conv_destroy(c);
        return s;
    }
    out = hd_cpu_make(p, result, form, 0);
    hd_cpu_scratch(p, hd_q_conv_scratch(c));
    struct hd_cpu_step *step = hd_cpu_step(p, node, "int8", n_in, in, 1, &out);
    if (d.result == HD_Q_FLOAT) p->done[cast] = true;
    step->n_nodes = 1 + (d.result == HD_Q_FLOAT);
    step->run = run_sums;
    step->state = k;
    step->destroy = destroy_sums;
    *out_taken = true;
    return HD_OK;
}

hd_status hd_cpu_dynamic(struct hd_cpu_plan *p, int node, bool *out_taken) {
    if (!hd_q_available()) return HD_OK;
    switch (p->g->nodes[node].op) {
    case HD_IR_dynamicquantize:
        return plan_quantize(p, node, out_taken);
    case HD_IR_convinteger:
    case HD_IR_matmulinteger:
        return plan_sums(p, node, out_taken);
    default:
        return HD_OK;
    }
}

#else

hd_status hd_cpu_dynamic(struct hd_cpu_plan *p, int node, bool *out_taken) {
    (void)p, (void)node, (void)out_taken;
    return HD_OK;
}

#endif
