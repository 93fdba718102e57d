/* Recurrent layers: qlstm, qgru, qrnn.
 *
 * needs: a legalised graph; for hd_choose_recurrent residency of x and y and the XM ring
 * gives: gates and weights in the order in which the machine takes them; what stays on chip
 * destroys: an earlier choice
 *
 * A step is two products: of x, which does not depend on the step before, and of h, which does.
 * Products of x are made `ahead` steps early, so they fill the time in which the matrix unit would
 * wait for the gates (kind/recurrent_sequence.c). Gates come in the order in which they are needed,
 * so that the vector unit works on one while the matrix unit makes the next.
 */
#include <string.h>

#include "compiler/ir/rnn.h"
#include "compiler/kind/recurrent.h"

enum { X, W, R, BIAS, SCALE, INITIAL, INITIAL_C, OPERANDS };

bool hd_state_shape(const struct hd_lowering *lo, int tensor, struct hd_mtensor *out) {
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    if (t->dtype != HD_F32 || t->data || !t->known || t->rank != 3 || t->dim[2] > 65535 / 4 ||
        t->dim[0] * t->dim[1] > 65535)
        return false;
    *out = (struct hd_mtensor){.n = 1,
                               .h = (int)(t->dim[0] * t->dim[1]),
                               .w = 1,
                               .c = (int)t->dim[2] * 4,
                               .cp = (int)hd_round_up(t->dim[2], hd_max(lo->m->k, lo->m->n)) * 4,
                               .rows = true,
                               .f32 = true};
    return true;
}

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    struct hd_mtensor m;
    *out_hint = "export the network with constant weights";
    for (int i = W; i <= SCALE; i++)
        if (!g->tensors[n->in[i]].data) return "weights, biases or scales are not constant";
    *out_hint = "";
    if (n->out[0] < 0) return "nobody reads its sequence of results";
    if (hd_lacks_functions(lo, out_hint)) return hd_lacks_functions(lo, out_hint);
    bool state = n->n_out > 1 && n->out[1] >= 0;
    int bytes[3] = {n->in[X], n->out[0], -1};
    for (int i = INITIAL; i < n->n_in; i++) {
        const struct hd_tensor *t = n->in[i] < 0 ? NULL : &g->tensors[n->in[i]];
        state = state || (t && t->dtype == HD_F32);
        if (!t || t->data) continue;
        if (t->dtype != HD_F32) bytes[2] = n->in[i];
        if (t->dtype == HD_F32 && !hd_state_shape(lo, n->in[i], &m))
            return "the state is too large for one transfer";
    }
    if (n->n_out > 1 && n->out[1] >= 0 && !hd_state_shape(lo, n->out[1], &m))
        return "the state is too large for one transfer";
    if (state && lo->m->n * 4 < hd_axi_bytes(lo->m)) {
        *out_hint = "use a machine whose accumulator words are as wide as its memory port";
        return "its binary32 state cannot move between AM and DRAM";
    }
    for (int i = 0; i < 3; i++) {
        if (bytes[i] < 0) continue;
        if (!hd_machine_shape(lo, bytes[i], &m) || m.h > UINT16_MAX) {
            *out_hint = "int8 or uint8 tensors, not constant; steps times samples up to 65535";
            return "operand or result has no machine layout";
        }
        if (!m.rows) return "its sequence lies in memory as an image does";
    }
    return NULL;
}

/* ---- weights ---- */

/* The gate of the graph (i o f c, z r h) that the machine takes as its g-th. */
static int gate_of(const struct hd_recurrent *r, int g) {
    static const int lstm[2][4] = {{2, 0, 3, 1}, {2, 0, 1, 3}}; /* f i c o, f i o c */
    static const int gru[2][3] = {{1, 2, 0}, {1, 0, 2}};        /* r h z, r z h */
    if (r->gates == 1) return 0;
    return r->gates == 4 ? lstm[r->together][g] : gru[r->together || !r->linear_before_reset][g];
}

struct packing {
    const struct hd_lowering *lo;
    const struct hd_recurrent *r;
    int64_t hidden, depth; /* outputs of a gate, inputs */
    const int8_t *w;       /* [gates * hidden][depth] */
    const int32_t *bias;   /* [gates * hidden] */
    const float *scale;
    int32_t zp;
    int cw, side;
};

/* Of one side: WM words [gate][v][cw] at `at`, PM words [gate][v] at `pm`, the zero point in the
 * bias. */
static void pack(const struct packing *q, size_t at, size_t pm) {
    int n = (int)q->lo->m->n, k = (int)q->lo->m->k, nh = q->r->vectors / q->r->sides;
    for (int g = 0; g < q->r->gates; g++)
        for (int64_t j = 0; j < q->hidden; j++) {
            int64_t row = gate_of(q->r, g) * q->hidden + j;
            size_t nt = (size_t)(g * q->r->vectors + q->side * nh + j / n), lane = (size_t)(j % n);
            uint32_t sum = 0;
            for (int64_t i = 0; i < q->depth; i++) {
                int8_t v = q->w[row * q->depth + i];
                size_t word = nt * (size_t)q->cw + (size_t)(i / k);
                q->lo->image[at + (word * (size_t)n + lane) * (size_t)k + (size_t)(i % k)] =
                    (uint8_t)v;
                sum += (uint32_t)(int32_t)v;
            }
            uint32_t b = (uint32_t)q->bias[row] - (uint32_t)q->zp * sum;
            uint8_t *p = q->lo->image + pm + (nt * (size_t)n + lane) * 8;
            memcpy(p, &b, 4);
            memcpy(p + 4, &q->scale[row], 4);
        }
}

static void pack_direction(struct hd_lowering *lo, const struct hd_node *n, const struct hd_qrnn *s,
                           struct hd_recurrent *r, int d) {
    const struct hd_tensor *t = lo->g->tensors;
    int64_t gh = s->gates * s->hidden, nts = (int64_t)r->gates * r->vectors;
    size_t wm = hd_wm_word_bytes(lo->m), pm = hd_pm_word_bytes(lo->m);
    int side = d % r->sides;
    struct hd_recurrent_image *at = &r->image[d - side];
    if (side == 0) {
        at->w = hd_image_reserve(lo, (size_t)(nts * r->cwx) * wm);
        at->r = hd_image_reserve(lo, (size_t)(nts * r->cwh) * wm);
        at->p = hd_image_reserve(lo, (size_t)(2 * nts) * pm);
    }
    struct packing q = {.lo = lo,
                        .r = r,
                        .hidden = s->hidden,
                        .depth = s->input,
                        .w = (const int8_t *)t[n->in[W]].data + d * gh * s->input,
                        .bias = (const int32_t *)t[n->in[BIAS]].data + d * 2 * gh,
                        .scale = (const float *)t[n->in[SCALE]].data + d * 2 * gh,
                        .zp = s->x_zp,
                        .cw = r->cwx,
                        .side = side};
    pack(&q, at->w, at->p);
    q.depth = s->hidden, q.zp = s->y_zp, q.cw = r->cwh;
    q.w = (const int8_t *)t[n->in[R]].data + d * gh * s->hidden;
    q.bias += gh, q.scale += gh;
    pack(&q, at->r, at->p + (size_t)nts * pm);
}

/* Rows of a constant initial state, padded as in the arena. */
static int64_t pack_rows(struct hd_lowering *lo, const struct hd_tensor *t, size_t cp) {
    size_t elem = hd_dtype_bytes(t->dtype), rows = (size_t)(t->dim[0] * t->dim[1]);
    size_t row = (size_t)t->dim[2] * elem, at = hd_image_reserve(lo, rows * cp * elem);
    for (size_t i = 0; i < rows; i++)
        memcpy(lo->image + at + i * cp * elem, (const char *)t->data + i * row, row);
    return (int64_t)at;
}

/* ---- layer ---- */

static void operands(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l,
                     struct hd_recurrent *r) {
    int count = 1;
    r->in_h = r->in_state = -1;
    r->h_offset = r->state_offset = -1;
    for (int i = INITIAL; i < n->n_in; i++) {
        const struct hd_tensor *t = n->in[i] < 0 ? NULL : &lo->g->tensors[n->in[i]];
        if (!t) continue;
        bool f32 = t->dtype == HD_F32;
        if (t->data) {
            *(f32 ? &r->state_offset : &r->h_offset) =
                pack_rows(lo, t, (size_t)lo->tensors[l->out].bytes);
        } else {
            *(f32 ? &r->in_state : &r->in_h) = count;
            l->in[count++] = lo->tensor_of[n->in[i]];
        }
    }
    l->state = n->n_out > 1 && n->out[1] >= 0 ? lo->tensor_of[n->out[1]] : -1;
}

/* Bytes of weights that DRAM must carry: once, and again in each step what WM cannot hold. */
static int64_t weight_traffic(const struct hd_lowering *lo, const struct hd_qrnn *s) {
    int64_t gh = s->gates * s->hidden, r = gh * s->hidden, all = gh * s->input + r + 2 * gh * 8;
    return s->directions * (all + hd_max(0, r - (int64_t)lo->m->wm_bytes) * (s->steps - 1));
}

/* Words of AM for a vector of N results of one row: sums of h, state and one more, products of x.
 */
static int64_t am_words(const struct hd_recurrent *r, int64_t ahead) {
    return r->gates + 2 + ahead * r->gates;
}

/* Both directions go together, each map over the vectors of both, where all that they keep fits:
 * a step is a chain of short maps, which takes as long for two as for one. */
static int sides(const struct hd_lowering *lo, const struct hd_recurrent *r, int row_bytes) {
    int64_t vectors = 2 * (int64_t)r->vectors, tiles = r->gates * vectors;
    bool fit = r->directions == 2 && tiles * (r->cwx + r->cwh) <= hd_wm_words(lo->m) &&
               2 * tiles <= hd_pm_words(lo->m) &&
               vectors * r->batch * am_words(r, 2) <= hd_am_words(lo->m) &&
               32 * (int64_t)row_bytes * r->batch <= (int64_t)lo->m->xm_bytes;
    return fit ? 2 : 1;
}

static hd_status make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    const struct hd_tensor *t[OPERANDS] = {NULL};
    struct hd_qrnn s;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) t[i] = &lo->g->tensors[n->in[i]];
    hd_status st = hd_qrnn_get(lo->ctx, n, t, &s);
    HD_ASSERT(st == HD_OK); /* verified */
    const struct hd_mtensor *x = &lo->tensors[l->in[0]], *y = &lo->tensors[l->out];
    struct hd_recurrent *r = hd_new(lo->arena, struct hd_recurrent);
    l->own = r;
    *r = (struct hd_recurrent){.gates = s.gates,
                               .directions = s.directions,
                               .steps = (int)s.steps,
                               .batch = (int)s.batch,
                               .reverse = s.reverse,
                               .linear_before_reset = s.linear_before_reset,
                               .no_tanh = s.no_tanh,
                               .scale = s.scale,
                               .vectors = y->bytes / (int)lo->m->n,
                               .cwx = (int)hd_ceil_div(x->c, lo->m->k),
                               .cwh = (int)hd_ceil_div(y->c, lo->m->k)};
    r->sides = sides(lo, r, x->bytes + y->bytes);
    r->vectors *= r->sides;
    r->together = r->vectors * r->cwh * s.batch < hd_knob(lo)->short_gate;
    l->y.zp = s.y_zp, l->y.lo = s.lo, l->y.hi = s.hi;
    operands(lo, n, l, r);
    for (int d = 0; d < s.directions; d++) pack_direction(lo, n, &s, r, d);
    l->weight_bytes = weight_traffic(lo, &s);
    return HD_OK;
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    (void)lo;
    const struct hd_recurrent *r = l->own;
    int maps = r->gates == 1 ? 2 : 8; /* of a step, per vector of a gate; scales of x apart */
    return (int64_t)r->steps * r->directions / r->sides * r->batch * r->vectors * (r->gates + maps);
}

/* ---- what fits ---- */

/* Weights that stay, and the ring for those that do not: at least two output tiles of each. Those
 * of x may give their place to more of those of h. */
static bool choose_weights(const struct hd_lowering *lo, struct hd_tiling *lt, bool x_stays) {
    const struct hd_recurrent *r = lt->l->own;
    struct hd_recurrent_tiling *rt = &lt->rnn;
    int64_t wm = hd_wm_words(lo->m), nts = (int64_t)r->gates * r->vectors;
    int64_t most = hd_max(r->cwx, r->cwh), w = nts * r->cwx, h = nts * r->cwh;
    rt->w_stay = w + h <= wm;
    rt->r_stay = (int)nts;
    rt->wm_ring = wm - h - (rt->w_stay ? w : 0);
    if (rt->w_stay) return true;
    int64_t ring = hd_max(2 * most, hd_min(4 * most, wm / 2));
    if (2 * most > wm) return false;
    rt->w_stay = x_stays && w + ring <= wm;
    int64_t rest = wm - ring - (rt->w_stay ? w : 0);
    rt->r_stay = (int)hd_min(nts, rest / r->cwh);
    rt->wm_ring = wm - (rt->w_stay ? w : 0) - (int64_t)rt->r_stay * r->cwh;
    return true;
}

/* Steps whose products of x are made before the first step: as long as weights load, and a step
 * makes less of it. */
static int64_t wanted_ahead(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_recurrent *r = lt->l->own;
    int64_t nts = (int64_t)r->gates * r->vectors;
    int64_t load = nts * (r->cwx + r->cwh) * (int64_t)hd_wm_word_bytes(lo->m) / hd_axi_bytes(lo->m);
    return hd_max(2, hd_ceil_div(load, nts * r->cwx * lt->rnn.rows) + 1);
}

static struct hd_refusal choose(const struct hd_lowering *lo, struct hd_tiling *lt, bool x_stays) {
    const struct hd_layer *l = lt->l;
    const struct hd_recurrent *r = l->own;
    struct hd_recurrent_tiling *rt = &lt->rnn;
    const struct hd_mtensor *x = &lo->tensors[l->in[0]], *y = &lo->tensors[l->out];
    const struct hd_placement *xp = &lo->plan->places[l->in[0]], *yp = &lo->plan->places[l->out];
    int64_t am = hd_am_words(lo->m), half = am / 2, pm = hd_pm_words(lo->m);
    lt->th = l->oh, lt->tw = l->ow;
    if (!choose_weights(lo, lt, x_stays)) return HD_REFUSE(gate_weights);
    if (r->vectors > pm / 2) return HD_REFUSE(gate_scales);
    rt->pm_stay = 2 * r->gates * r->vectors <= pm;
    if (r->vectors * am_words(r, 1) > am) return HD_REFUSE(step_gates);
    int64_t room = hd_max(1, am / (r->vectors * am_words(r, 2)));
    if (!xp->resident) room = hd_min(room, lt->ring_in / r->sides / x->bytes);
    int64_t out = (int64_t)(lt->ring_bytes - lt->ring_in) / 2 / r->sides / y->bytes;
    if (!yp->resident) room = hd_min(room, out);
    if (room < 1) return HD_REFUSE(step_rows);
    rt->rows = (int)hd_min(r->batch, room);
    rt->rows = (int)hd_ceil_div(r->batch, hd_ceil_div(r->batch, rt->rows));
    int64_t q = (int64_t)r->vectors * rt->rows, apart = (half / q - 2) / r->gates;
    rt->apart = rt->w_stay && q * r->gates <= half && half / q > 2 && apart >= hd_min(2, r->steps);
    int64_t ahead = rt->apart ? apart : (am / q - r->gates - 2) / r->gates;
    int64_t wanted = lt->ask_tiles ? lt->ask_tiles : wanted_ahead(lo, lt);
    if (rt->w_stay || lt->ask_tiles) ahead = hd_min(ahead, hd_max(2, wanted));
    if (!xp->resident)
        ahead = hd_min(ahead, lt->ring_in / r->sides / ((int64_t)rt->rows * x->bytes));
    rt->ahead = (int)hd_max(1, hd_min(ahead, r->steps));
    rt->out_steps = (int)hd_min(r->steps, hd_knob(lo)->steps_stored);
    if (!yp->resident) rt->out_steps = (int)hd_max(1, hd_min(rt->out_steps, out / rt->rows));
    return (struct hd_refusal){.why = HD_FITS};
}

/* Words of WM that are loaded more than once: of h in every step, of x for every `ahead` steps. */
static int64_t loaded_again(const struct hd_tiling *lt) {
    const struct hd_recurrent *r = lt->l->own;
    const struct hd_recurrent_tiling *rt = &lt->rnn;
    int64_t nts = (int64_t)r->gates * r->vectors, blocks = hd_ceil_div(r->steps, rt->ahead);
    return (nts - rt->r_stay) * r->cwh * r->steps + (rt->w_stay ? 0 : nts * r->cwx * blocks);
}

static struct hd_refusal choose_tiles(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_refusal stays = choose(lo, lt, true), fits = {.why = HD_FITS};
    if (!stays.why && loaded_again(lt) == 0) return fits;
    const struct hd_tiling staying = *lt;
    const struct hd_refusal loads = choose(lo, lt, false);
    if (!loads.why && (stays.why || loaded_again(&staying) > loaded_again(lt))) return fits;
    *lt = staying;
    return stays.why ? loads : fits;
}

static const char *plan_text(hd_arena *a, const struct hd_tiling *lt) {
    const struct hd_recurrent *r = lt->l->own;
    return hd_sprintf(
        a,
        "%d of the batch at a time, %s, products of x %d steps ahead, their weights %s, "
        "of the state's %d of %d tiles kept",
        lt->rnn.rows, r->sides > 1 ? "both directions" : "one direction", lt->rnn.ahead,
        lt->rnn.w_stay ? "kept" : "loaded each time", lt->rnn.r_stay, r->gates * r->vectors);
}

static bool streams(const struct hd_lowering *lo, const struct hd_layer *l, int i) {
    return i == 0 && !lo->plan->places[l->in[0]].resident; /* initial states have their place */
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return l->nts;
}

const struct hd_kind hd_kind_recurrent = {
    .name = "recurrent",
    .operations = "mx.gemm vx.map",
    .expression = "gates of one time step after the other",
    .memories = "XM WM -> AM, AM PM -> XM",
    .own_params = true,
    .own_stores = true,
    .all_results = true,
    .wishes_all = true,
    .refuses = refuses,
    .wish = HD_WISH_ROWS,
    .make = make,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .streams = streams,
    .choose_tiles = choose_tiles,
    .plan_text = plan_text,
    .lower_layer = hd_recurrent_lower,
};
