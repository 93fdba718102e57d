/* Recurrent layers, step by step (tile/recurrent.c says what is where; docs/compiler.md why).
 *
 * AM holds, in vectors of N results, [gate][vector][row]: sums of h, the state, one more, and for
 * each of `ahead` steps the products of x, which become binary32 as soon as they are there. Gates
 * take the place of their sums. A row of y is where the next step reads h; before the first step it
 * holds the initial state.
 */
#include <stdlib.h>

#include "compiler/sched/lower.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"

enum { AM_INT, AM_F32, ZERO = 4 };              /* a_kind, b_kind */
enum { ALU_A, ALU_ADD, ALU_SUB, ALU_MUL };      /* alu */
enum { OF_X, OF_H, PARTS };                     /* products */
enum { FIRST_LOADS = 8, STEP_MAX = INT16_MAX }; /* pieces in which weights come; field of mx */

struct rows { /* in XM, bytes: `rows` of each of n steps */
    int64_t at, pitch, step;
    int n;
};

struct cell { /* a direction and part of the batch */
    struct hd_lowerer *w;
    const struct hd_recurrent *r;
    const struct hd_mtensor *x, *y;
    int d, b0, rows;
    bool backwards;
    int64_t q; /* AM words of a gate: vectors * rows */
    int64_t sums, state, tmp, wx;
    int64_t wm[PARTS], pm; /* what stays */
    struct hd_ring wm_ring;
    int loaded[PARTS]; /* output tiles that are there */
    bool pm_loaded[PARTS];
    struct rows now, before; /* rows of y */
};

static int tiles(const struct cell *c) {
    return c->r->gates * c->r->vectors;
}

static int step_of(const struct cell *c, int i) {
    return c->backwards ? c->r->steps - 1 - i : i;
}

static int64_t slot(const struct cell *c, int i) {
    return c->wx + i % c->r->ahead * c->r->gates * c->q;
}

static void touch_xm(struct cell *c, const struct rows *v, int64_t bytes, bool write) {
    int64_t far = (v->n - 1) * v->step, lo = v->at + (far < 0 ? far : 0);
    int64_t hi = v->at + (far > 0 ? far : 0) + (c->rows - 1) * v->pitch + bytes;
    hd_sched_touch(&c->w->s, HD_SPACE_XM, lo, hi, write);
}

/* ---- weights and products ---- */

static hd_status load_tiles(struct cell *c, int part, int nt, int n, int64_t to) {
    const struct hd_recurrent_image *image = &c->r->image[c->d];
    int cw = part ? c->r->cwh : c->r->cwx;
    size_t src =
        (part ? image->r : image->w) + (size_t)nt * (size_t)cw * (size_t)hd_wm_word_bytes(c->w->m);
    hd_low_load_words(c->w, 0, src, to, (int64_t)n * cw, 1, 0, 0);
    return hd_sched_end(&c->w->s);
}

/* PM words of a gate: bias and scale of its products. */
static hd_status params(struct cell *c, int part, int gate, int64_t *out) {
    int nh = c->r->vectors, first = part * tiles(c) + gate * nh, n = nh;
    if (c->r->pm_stay) {
        *out = c->pm + first;
        if (c->pm_loaded[part]) return HD_OK;
        c->pm_loaded[part] = true;
        first = part * tiles(c), n = tiles(c);
        hd_low_load_words(c->w, 1, c->r->image[c->d].p + (size_t)first * hd_pm_word_bytes(c->w->m),
                          c->pm + first, n, 1, 0, 0);
        return hd_sched_end(&c->w->s);
    }
    *out = hd_ring_take(&c->w->pm, n);
    hd_low_load_words(c->w, 1, c->r->image[c->d].p + (size_t)first * hd_pm_word_bytes(c->w->m),
                      *out, n, 1, 0, 0);
    return hd_sched_end(&c->w->s);
}

static void set_loop(struct hd_lowerer *w, int i, int64_t n, int64_t xs, int64_t ws, int64_t as) {
    static const enum hd_field first[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2,
                                          HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    hd_low_set(w, first[i], n); /* the four fields of a loop follow each other in isa.def */
    hd_low_set(w, (enum hd_field)(first[i] + 1), n > 1 ? xs : 0);
    hd_low_set(w, (enum hd_field)(first[i] + 2), n > 1 ? ws : 0);
    hd_low_set(w, (enum hd_field)(first[i] + 3), n > 1 ? as : 0);
}

/* AM[am + tile * rows + row + step * gates * q] = products of n output tiles from WM word wm. */
static hd_status gemm(struct cell *c, int part, const struct rows *v, int64_t wm, int n,
                      int64_t am) {
    struct hd_lowerer *w = c->w;
    int k = (int)w->m->k, cw = part ? c->r->cwh : c->r->cwx;
    int64_t steps = c->r->gates * c->q;
    hd_low_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_low_set(w, HD_F_mx_nred, 1);
    hd_low_set(w, HD_F_mx_x_unsigned, (part ? c->y : c->x)->is_unsigned);
    hd_low_set(w, HD_F_mx_x, v->at / k);
    hd_low_set(w, HD_F_mx_w, wm);
    hd_low_set(w, HD_F_mx_a, am);
    set_loop(w, 0, cw, 1, 1, 0);
    set_loop(w, 1, c->rows, v->pitch / k, 0, 1);
    set_loop(w, 2, v->n, v->step / k, 0, steps);
    set_loop(w, 3, n, 0, cw, c->rows);
    set_loop(w, 4, 1, 0, 0, 0), set_loop(w, 5, 1, 0, 0, 0);
    touch_xm(c, v, (int64_t)cw * k, false);
    hd_sched_touch(&w->s, HD_SPACE_WM, wm, wm + (int64_t)n * cw, false);
    for (int s = 0; s < v->n; s++)
        hd_sched_touch(&w->s, HD_SPACE_AM, am + s * steps, am + s * steps + n * c->rows, true);
    return hd_sched_end(&w->s);
}

/* Products of output tiles [nt, nt + n): weights that are there at once, others as they come. */
static hd_status product(struct cell *c, int part, const struct rows *v, int nt, int n,
                         int64_t am) {
    int cw = part ? c->r->cwh : c->r->cwx;
    int stay = part ? c->r->r_stay : c->r->w_stay ? tiles(c) : 0;
    for (int end = nt + n, m; nt < end; nt += m, am += (int64_t)m * c->rows) {
        int64_t wm = c->wm[part] + (int64_t)nt * cw;
        if (nt < c->loaded[part]) {
            m = (int)hd_min(end, c->loaded[part]) - nt;
        } else if (nt < stay) {
            m = (int)hd_min(hd_min(end, stay) - nt, hd_ceil_div(tiles(c), FIRST_LOADS));
            m = (int)hd_min(m, hd_max(1, nt)); /* work begins with the first tile */
            TRY(load_tiles(c, part, nt, m, wm));
            c->loaded[part] = nt + m;
        } else {
            m = (int)hd_min(end - nt, hd_max(1, c->wm_ring.size / 4 / cw));
            wm = hd_ring_take(&c->wm_ring, (int64_t)m * cw);
            TRY(load_tiles(c, part, nt, m, wm));
        }
        bool at_once = v->n == 1 ||
                       (llabs(v->step) / c->w->m->k <= STEP_MAX && c->r->gates * c->q <= STEP_MAX);
        struct rows one = *v;
        if (at_once) {
            TRY(gemm(c, part, v, wm, m, am));
            continue;
        }
        one.n = 1;
        for (int s = 0; s < v->n; s++, one.at += one.step)
            TRY(gemm(c, part, &one, wm, m, am + s * c->r->gates * c->q));
    }
    return HD_OK;
}

static hd_status gate_products(struct cell *c, int gate, int n, const struct rows *h) {
    return product(c, OF_H, h, gate * c->r->vectors, n * c->r->vectors, c->sums + gate * c->q);
}

static hd_status gate_product(struct cell *c, int gate, const struct rows *h) {
    return gate_products(c, gate, 1, h);
}

/* ---- vectors ---- */

struct map { /* scales of 0 count as 1 */
    int alu, fn, a_kind;
    int64_t a, b, d;
    int64_t pm; /* bias and scale of A, 0 = none: pm - 1 is the word */
    bool to_y;  /* the result goes to c->now, as bytes */
    float a_scale, b_scale;
    int tiles, n; /* vectors of results, 0 = those of a gate; steps */
};

static hd_status map(struct cell *c, struct map m) {
    struct hd_lowerer *w = c->w;
    int nh = m.tiles ? m.tiles : c->r->vectors, lanes = (int)w->m->n;
    bool loops = m.pm || m.to_y; /* else vectors follow each other */
    int64_t inner = loops ? c->rows : c->rows * nh, outer = loops ? nh : 1;
    int64_t n = m.n > 1 ? m.n : 1, steps = c->r->gates * c->q, extent = (int64_t)c->rows * nh;
    float a_scale = m.a_scale != 0 ? m.a_scale : 1, b_scale = m.b_scale != 0 ? m.b_scale : 1;
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_set(w, HD_F_vx_a_kind, m.a_kind);
    hd_low_set(w, HD_F_vx_b_kind, m.alu ? AM_F32 : ZERO);
    hd_low_set(w, HD_F_vx_use_bias, m.pm != 0), hd_low_set(w, HD_F_vx_scale_pm, m.pm != 0);
    hd_low_set(w, HD_F_vx_alu, m.alu), hd_low_set(w, HD_F_vx_fn, m.fn);
    hd_low_set(w, HD_F_vx_d_kind, m.to_y ? 0 : 1);
    hd_low_set(w, HD_F_vx_a, m.a), hd_low_set(w, HD_F_vx_b, m.alu ? m.b : 0);
    hd_low_set(w, HD_F_vx_d, m.to_y ? c->now.at / lanes : m.d);
    hd_low_set(w, HD_F_vx_p, m.pm ? m.pm - 1 : 0);
    hd_low_set(w, HD_F_vx_n0, inner), hd_low_set(w, HD_F_vx_as0, 1);
    hd_low_set(w, HD_F_vx_bs0, m.alu != 0);
    hd_low_set(w, HD_F_vx_ds0, m.to_y ? (c->rows > 1 ? c->now.pitch / lanes : 0) : 1);
    hd_low_set(w, HD_F_vx_n1, outer), hd_low_set(w, HD_F_vx_as1, outer > 1 ? c->rows : 0);
    hd_low_set(w, HD_F_vx_bs1, outer > 1 && m.alu ? c->rows : 0);
    hd_low_set(w, HD_F_vx_ds1, outer == 1 ? 0 : m.to_y ? 1 : c->rows);
    hd_low_set(w, HD_F_vx_ps1, m.pm && outer > 1);
    hd_low_set(w, HD_F_vx_n2, n);
    hd_low_set(w, HD_F_vx_as2, n > 1 ? steps : 0), hd_low_set(w, HD_F_vx_ds2, n > 1 ? steps : 0);
    hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_set(w, HD_F_vx_a_scale, hd_low_f32_bits(a_scale));
    hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(b_scale));
    if (m.to_y) hd_low_set_requant(w);
    for (int64_t s = 0; s < n; s++) {
        int64_t at = s * steps;
        if (m.a_kind != ZERO)
            hd_sched_touch(&w->s, HD_SPACE_AM, m.a + at, m.a + at + extent, false);
        if (!m.to_y) hd_sched_touch(&w->s, HD_SPACE_AM, m.d + at, m.d + at + extent, true);
    }
    if (m.alu) hd_sched_touch(&w->s, HD_SPACE_AM, m.b, m.b + extent, false);
    if (m.pm) hd_sched_touch(&w->s, HD_SPACE_PM, m.pm - 1, m.pm - 1 + nh, false);
    if (m.to_y) touch_xm(c, &c->now, c->y->bytes, true);
    return hd_sched_end(&w->s);
}

/* d = fn(sums of h of n gates from g + products of x of step i), in binary32. */
static hd_status gates(struct cell *c, int i, int g, int n, int fn, int64_t d) {
    int at_once = c->r->pm_stay ? n : 1;
    for (int k = 0; k < n; k += at_once) {
        int64_t pm, at = (g + k) * c->q;
        TRY(params(c, OF_H, g + k, &pm));
        TRY(map(c, (struct map){.alu = ALU_ADD,
                                .fn = fn,
                                .a_kind = AM_INT,
                                .a = c->sums + at,
                                .pm = pm + 1,
                                .b = slot(c, i) + at,
                                .d = d + k * c->q,
                                .tiles = at_once * c->r->vectors}));
    }
    return HD_OK;
}

static hd_status gate(struct cell *c, int i, int g, int fn, int64_t d) {
    return gates(c, i, g, 1, fn, d);
}

static hd_status combine(struct cell *c, int alu, int64_t a, int64_t b, int64_t d) {
    return map(c, (struct map){.alu = alu, .a_kind = AM_F32, .a = a, .b = b, .d = d});
}

/* ---- products of x ---- */

/* Rows of x of steps i .. i + n - 1, in XM. */
static hd_status rows_of_x(struct cell *c, int i, int n, struct rows *out) {
    struct hd_lowerer *w = c->w;
    const struct hd_mtensor *x = c->x;
    int batch = c->r->batch, low = c->backwards ? step_of(c, i + n - 1) : i;
    int row = low * batch + c->b0;
    struct rows v = {.n = n, .pitch = x->bytes, .step = (int64_t)c->rows * x->bytes};
    if (x->resident) {
        struct hd_view in;
        TRY(hd_low_input(w, 0, 0, row, 0, (n - 1) * batch + c->rows, 1, &in));
        v.at = in.at, v.pitch = in.pitch, v.step = (int64_t)batch * in.pitch;
    } else {
        int64_t src = (int64_t)x->arena + (int64_t)row * x->cp;
        v.at = hd_ring_take(&w->xm_in, n * v.step);
        hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
        hd_low_set(w, HD_F_lx_seg, 1);
        hd_low_set(w, HD_F_lx_src, src), hd_low_set(w, HD_F_lx_dst, v.at);
        hd_low_set(w, HD_F_lx_run, x->bytes), hd_low_set(w, HD_F_lx_n1, c->rows);
        hd_low_set(w, HD_F_lx_n2, n), hd_low_set(w, HD_F_lx_n3, 1), hd_low_set(w, HD_F_lx_ys, 1);
        hd_low_set(w, HD_F_lx_s1, x->cp), hd_low_set(w, HD_F_lx_d1, v.pitch);
        hd_low_set(w, HD_F_lx_s2, (int64_t)batch * x->cp), hd_low_set(w, HD_F_lx_d2, v.step);
        hd_sched_touch(&w->s, HD_SPACE_ARENA, src,
                       src + ((int64_t)(n - 1) * batch + c->rows - 1) * x->cp + x->bytes, false);
        touch_xm(c, &v, x->bytes, true);
        TRY(hd_sched_end(&w->s));
    }
    if (c->backwards) v.at += (n - 1) * v.step, v.step = -v.step;
    *out = v;
    return HD_OK;
}

/* Bias and scale of output tiles [nt, nt + count), of one gate where parameters do not stay:
 * binary32 from here on. */
static hd_status scale_of_x(struct cell *c, int i, int n, int nt, int count) {
    bool at_once = n == 1 || c->r->gates * c->q <= STEP_MAX;
    int64_t pm;
    TRY(params(c, OF_X, nt / c->r->vectors, &pm));
    for (int s = 0; s < n; s += at_once ? n : 1) {
        int64_t at = slot(c, i + s) + (int64_t)nt * c->rows;
        TRY(map(c, (struct map){.a_kind = AM_INT,
                                .a = at,
                                .d = at,
                                .pm = pm + nt % c->r->vectors + 1,
                                .tiles = count,
                                .n = at_once ? n : 1}));
    }
    return HD_OK;
}

/* Products of x of n steps, scaled: in pieces, so that the vector unit is not far behind. */
static hd_status block_of_x(struct cell *c, int i, int n) {
    int piece = (int)hd_max(1, c->r->pm_stay ? c->r->vectors / 2 : c->r->vectors), nts = tiles(c);
    struct rows v = {0};
    TRY(rows_of_x(c, i, n, &v));
    for (int nt = 0, m; nt < nts; nt += m) { /* a piece does not reach into the next gate */
        m = (int)hd_min(piece, c->r->vectors - nt % c->r->vectors);
        TRY(product(c, OF_X, &v, nt, m, slot(c, i) + (int64_t)nt * c->rows));
        TRY(scale_of_x(c, i, n, nt, m));
    }
    return HD_OK;
}

static hd_status scale_of_filler(struct cell *c, int i) {
    int count = c->r->pm_stay ? tiles(c) : c->r->vectors;
    for (int nt = 0; nt < tiles(c); nt += count) TRY(scale_of_x(c, i, 1, nt, count));
    return HD_OK;
}

/* Whether step i is followed by the products of x of a later one. */
static bool fills(const struct cell *c, int i) {
    return c->r->w_stay && c->r->ahead > 1 && i > 0 && i + c->r->ahead - 1 < c->r->steps;
}

/* Behind the last product of step i: work for the matrix unit while it would wait for the gates. */
static hd_status filler(struct cell *c, int i) {
    struct rows v = {0};
    int later = i + c->r->ahead - 1;
    if (!fills(c, i)) return HD_OK;
    TRY(rows_of_x(c, later, 1, &v));
    return product(c, OF_X, &v, 0, tiles(c), slot(c, later));
}

/* ---- steps ---- */

/* y = tanh(c) * o */
static hd_status lstm_end(struct cell *c, int64_t o) {
    return map(c, (struct map){.alu = ALU_MUL,
                               .fn = HD_FN_TANH,
                               .a_kind = AM_F32,
                               .a = c->state,
                               .b = o,
                               .b_scale = c->r->scale,
                               .to_y = true});
}

/* c = f * c + i * g: f and i are neighbours, c and g too. */
static hd_status lstm_state(struct cell *c, int64_t f) {
    TRY(map(c, (struct map){.alu = ALU_MUL,
                            .a_kind = AM_F32,
                            .a = f,
                            .b = c->state,
                            .d = f,
                            .tiles = 2 * c->r->vectors}));
    return combine(c, ALU_ADD, f, f + c->q, c->state);
}

/* Products of a few cycles: what counts is how often the vector unit begins. */
static hd_status lstm_short_step(struct cell *c, int i) { /* f, i, o, c */
    TRY(gate_products(c, 0, 4, &c->before));
    TRY(filler(c, i));
    TRY(gates(c, i, 0, 3, HD_FN_SIGMOID, c->sums));
    TRY(gate(c, i, 3, HD_FN_TANH, c->tmp));
    TRY(lstm_state(c, c->sums));
    return lstm_end(c, c->sums + 2 * c->q);
}

static hd_status lstm_step(struct cell *c, int i) { /* f, i, c, o */
    int64_t f = c->sums, g = c->sums + 2 * c->q, o = c->sums + 3 * c->q;
    TRY(gate_product(c, 0, &c->before));
    TRY(gate(c, i, 0, HD_FN_SIGMOID, f));
    TRY(combine(c, ALU_MUL, f, c->state, f));
    TRY(gate_product(c, 1, &c->before));
    TRY(gate(c, i, 1, HD_FN_SIGMOID, c->tmp));
    TRY(gate_product(c, 2, &c->before));
    TRY(gate(c, i, 2, HD_FN_TANH, g));
    TRY(combine(c, ALU_MUL, g, c->tmp, c->tmp));
    TRY(combine(c, ALU_ADD, f, c->tmp, c->state));
    TRY(gate_product(c, 3, &c->before));
    TRY(filler(c, i));
    TRY(gate(c, i, 3, HD_FN_SIGMOID, o));
    return lstm_end(c, o);
}

/* state = (state - in) * update + in, and y of it. */
static hd_status gru_end(struct cell *c, int64_t in, int64_t update) {
    TRY(combine(c, ALU_MUL, c->tmp, update, c->tmp));
    TRY(combine(c, ALU_ADD, c->tmp, in, c->state));
    return map(c,
               (struct map){.a_kind = AM_F32, .a = c->state, .a_scale = c->r->scale, .to_y = true});
}

static hd_status gru_short_step(struct cell *c, int i) { /* r, z, h */
    int64_t r = c->sums, z = r + c->q, h = r + 2 * c->q, pm;
    TRY(gate_products(c, 0, 3, &c->before));
    TRY(filler(c, i));
    TRY(gates(c, i, 0, 2, HD_FN_SIGMOID, r));
    TRY(params(c, OF_H, 2, &pm));
    TRY(map(c,
            (struct map){.alu = ALU_MUL, .a_kind = AM_INT, .a = h, .pm = pm + 1, .b = r, .d = h}));
    TRY(map(c, (struct map){.alu = ALU_ADD,
                            .fn = HD_FN_TANH,
                            .a_kind = AM_F32,
                            .a = h,
                            .b = slot(c, i) + 2 * c->q,
                            .d = h}));
    TRY(combine(c, ALU_SUB, c->state, h, c->tmp));
    return gru_end(c, h, z);
}

static hd_status gru_before_step(struct cell *c, int i) { /* r, h, z */
    int64_t h = c->sums + c->q, z = c->sums + 2 * c->q, pm;
    TRY(gate_product(c, 0, &c->before));
    TRY(gate(c, i, 0, HD_FN_SIGMOID, c->tmp));
    TRY(gate_product(c, 1, &c->before));
    TRY(params(c, OF_H, 1, &pm));
    TRY(map(c, (struct map){
                   .alu = ALU_MUL, .a_kind = AM_INT, .a = h, .pm = pm + 1, .b = c->tmp, .d = h}));
    TRY(map(c, (struct map){.alu = ALU_ADD,
                            .fn = HD_FN_TANH,
                            .a_kind = AM_F32,
                            .a = h,
                            .b = slot(c, i) + c->q,
                            .d = h}));
    TRY(combine(c, ALU_SUB, c->state, h, c->tmp));
    TRY(gate_product(c, 2, &c->before));
    TRY(filler(c, i));
    TRY(gate(c, i, 2, HD_FN_SIGMOID, z));
    return gru_end(c, h, z);
}

static hd_status gru_after_step(struct cell *c, int i) { /* r, z, h */
    int64_t r = c->sums, z = c->sums + c->q, h = c->sums + 2 * c->q;
    TRY(gate_product(c, 0, &c->before));
    TRY(gate_product(c, 1, &c->before)); /* reads the row that r * h is about to take */
    TRY(gates(c, i, 0, c->r->together ? 2 : 1, HD_FN_SIGMOID, r));
    TRY(map(c, (struct map){.alu = ALU_MUL,
                            .a_kind = AM_F32,
                            .a = r,
                            .b = c->state,
                            .b_scale = c->r->scale,
                            .to_y = true}));
    if (!c->r->together) TRY(gate(c, i, 1, HD_FN_SIGMOID, z));
    TRY(gate_product(c, 2, &c->now));
    TRY(filler(c, i));
    TRY(gate(c, i, 2, HD_FN_TANH, h));
    TRY(combine(c, ALU_SUB, c->state, h, c->tmp));
    return gru_end(c, h, z);
}

static hd_status rnn_step(struct cell *c, int i) {
    TRY(gate_product(c, 0, &c->before));
    TRY(filler(c, i));
    TRY(gate(c, i, 0, c->r->no_tanh ? HD_FN_NONE : HD_FN_TANH, c->sums));
    return map(c,
               (struct map){.a_kind = AM_F32, .a = c->sums, .a_scale = c->r->scale, .to_y = true});
}

/* ---- states ---- */

static hd_status zero_state(struct cell *c) {
    return map(c, (struct map){.a_kind = ZERO, .d = c->state});
}

/* The binary32 state between DRAM, [row][vector], and AM, [vector][row]. */
static hd_status load_state(struct cell *c, int seg, int64_t src) {
    struct hd_lowerer *w = c->w;
    int64_t word = 4 * (int64_t)w->m->n, row = word * c->r->vectors;
    src += (c->d * c->r->batch + c->b0) * row;
    hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_low_set(w, HD_F_lx_seg, seg), hd_low_set(w, HD_F_lx_mem, 1);
    hd_low_set(w, HD_F_lx_src, src), hd_low_set(w, HD_F_lx_dst, c->state * word);
    hd_low_set(w, HD_F_lx_run, word);
    hd_low_set(w, HD_F_lx_n1, c->r->vectors), hd_low_set(w, HD_F_lx_n2, c->rows);
    hd_low_set(w, HD_F_lx_n3, 1), hd_low_set(w, HD_F_lx_ys, 1);
    hd_low_set(w, HD_F_lx_s1, word), hd_low_set(w, HD_F_lx_d1, c->rows * word);
    hd_low_set(w, HD_F_lx_s2, row), hd_low_set(w, HD_F_lx_d2, word);
    if (seg) hd_sched_touch(&w->s, HD_SPACE_ARENA, src, src + c->rows * row, false);
    hd_sched_touch(&w->s, HD_SPACE_AM, c->state, c->state + c->q, true);
    return hd_sched_end(&w->s);
}

static hd_status store_state(struct cell *c) {
    struct hd_lowerer *w = c->w;
    const struct hd_mtensor *t = hd_low_tensor(w, c->r->out_state);
    int64_t word = 4 * (int64_t)w->m->n, row = word * c->r->vectors;
    int64_t dst = (int64_t)t->arena + (c->d * c->r->batch + c->b0) * row;
    hd_low_begin(w, HD_UNIT_st, HD_OP_st_store);
    hd_low_set(w, HD_F_st_seg, 1), hd_low_set(w, HD_F_st_mem, 1);
    hd_low_set(w, HD_F_st_dst, dst), hd_low_set(w, HD_F_st_src, c->state * word);
    hd_low_set(w, HD_F_st_run, word);
    hd_low_set(w, HD_F_st_n1, c->r->vectors), hd_low_set(w, HD_F_st_n2, c->rows);
    hd_low_set(w, HD_F_st_n3, 1);
    hd_low_set(w, HD_F_st_d1, word), hd_low_set(w, HD_F_st_s1, c->rows * word);
    hd_low_set(w, HD_F_st_d2, row), hd_low_set(w, HD_F_st_s2, word);
    hd_sched_touch(&w->s, HD_SPACE_AM, c->state, c->state + c->q, false);
    hd_sched_touch(&w->s, HD_SPACE_ARENA, dst, dst + c->rows * row, true);
    return hd_sched_end(&w->s);
}

static hd_status begin_state(struct cell *c) {
    const struct hd_layer *l = c->w->l;
    if (c->r->gates == 1) return HD_OK;
    if (c->r->in_state >= 0)
        return load_state(c, 1, (int64_t)hd_low_tensor(c->w, l->in[c->r->in_state])->arena);
    return c->r->state_offset < 0 ? zero_state(c) : load_state(c, 0, c->r->state_offset);
}

/* Rows of bytes, cp apart. */
static hd_status load_h(struct cell *c, int seg, int64_t src, int cp) {
    struct hd_lowerer *w = c->w;
    int bytes = c->y->bytes;
    src += (c->d * c->r->batch + c->b0) * cp;
    hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_low_set(w, HD_F_lx_seg, seg);
    hd_low_set(w, HD_F_lx_src, src), hd_low_set(w, HD_F_lx_dst, c->now.at);
    hd_low_set(w, HD_F_lx_run, bytes), hd_low_set(w, HD_F_lx_n1, c->rows);
    hd_low_set(w, HD_F_lx_n2, 1), hd_low_set(w, HD_F_lx_n3, 1), hd_low_set(w, HD_F_lx_ys, 1);
    hd_low_set(w, HD_F_lx_s1, cp), hd_low_set(w, HD_F_lx_d1, c->now.pitch);
    if (seg) hd_sched_touch(&w->s, HD_SPACE_ARENA, src, src + (c->rows - 1) * cp + bytes, false);
    touch_xm(c, &c->now, bytes, true);
    return hd_sched_end(&w->s);
}

/* What the first step reads: in the row that it is about to write, or where it lies in XM. */
static hd_status begin_h(struct cell *c) {
    struct hd_lowerer *w = c->w;
    int in = c->r->in_h;
    c->before = c->now;
    if (c->r->gates == 3)
        return map(
            c, (struct map){.a_kind = AM_F32, .a = c->state, .a_scale = c->r->scale, .to_y = true});
    if (in < 0 && c->r->h_offset >= 0) return load_h(c, 0, c->r->h_offset, c->y->bytes);
    if (in < 0)
        return hd_low_fill(w, w->l->zp, (uint32_t)c->now.at, c->y->bytes, c->rows, c->now.pitch);
    const struct hd_mtensor *h = hd_low_tensor(w, w->l->in[in]);
    if (!h->resident) return load_h(c, 1, (int64_t)h->arena, h->cp);
    struct hd_view v;
    TRY(hd_low_input(w, in, 0, c->d * c->r->batch + c->b0, 0, c->rows, 1, &v));
    c->before = (struct rows){.at = v.at, .pitch = v.pitch, .n = 1};
    return HD_OK;
}

/* ---- rows of y ---- */

static int y_row(const struct cell *c, int t) {
    return (t * c->r->directions + c->d) * c->r->batch + c->b0;
}

/* Steps of the group of out_steps that i lies in. */
static int group_steps(const struct cell *c, int i) {
    int first = i - i % c->r->out_steps;
    return (int)hd_min(c->r->out_steps, c->r->steps - first);
}

static void begin_row(struct cell *c, int i, int64_t *group) {
    int at = i % c->r->out_steps, n = group_steps(c, i);
    int64_t step = (int64_t)c->rows * c->y->bytes;
    c->before = c->now;
    if (c->y->resident) {
        struct hd_view v = hd_low_resident(c->y, 0, y_row(c, step_of(c, i)), 0, c->rows, 1);
        c->now = (struct rows){.at = v.at, .pitch = v.pitch, .n = 1};
        return;
    }
    if (at == 0) *group = hd_ring_take(&c->w->xm_out, n * step);
    c->now = (struct rows){
        .at = *group + (c->backwards ? n - 1 - at : at) * step, .pitch = c->y->bytes, .n = 1};
}

/* Behind the last step of a group: its rows go to DRAM, the first of them at the lowest address. */
static hd_status store_rows(struct cell *c, int i) {
    struct hd_lowerer *w = c->w;
    const struct hd_mtensor *y = c->y;
    int n = group_steps(c, i);
    if (!y->in_arena || i % c->r->out_steps != n - 1) return HD_OK;
    int low = c->backwards ? step_of(c, i) : i - n + 1;
    int64_t between = (int64_t)c->r->directions * c->r->batch, run = (int64_t)c->rows * y->bytes;
    int64_t dst = (int64_t)y->arena + (int64_t)y_row(c, low) * y->cp;
    struct rows v = {.at = c->now.at, .pitch = c->now.pitch, .n = n};
    v.step = y->resident ? between * c->now.pitch : run;
    if (!c->backwards) v.at -= (n - 1) * v.step;
    hd_low_begin(w, HD_UNIT_st, HD_OP_st_store);
    hd_low_set(w, HD_F_st_seg, 1);
    hd_low_set(w, HD_F_st_dst, dst), hd_low_set(w, HD_F_st_src, v.at);
    hd_low_set(w, HD_F_st_run, y->bytes), hd_low_set(w, HD_F_st_n1, c->rows);
    hd_low_set(w, HD_F_st_n2, n), hd_low_set(w, HD_F_st_n3, 1);
    hd_low_set(w, HD_F_st_d1, y->cp), hd_low_set(w, HD_F_st_s1, v.pitch);
    hd_low_set(w, HD_F_st_d2, between * y->cp), hd_low_set(w, HD_F_st_s2, v.step);
    touch_xm(c, &v, y->bytes, false);
    hd_sched_touch(&w->s, HD_SPACE_ARENA, dst,
                   dst + ((n - 1) * between + c->rows - 1) * y->cp + y->bytes, true);
    return hd_sched_end(&w->s);
}

/* ---- the layer ---- */

static void place_sums(struct cell *c) {
    int64_t half = hd_am_words(c->w->m) / 2;
    c->q = (int64_t)c->r->vectors * c->rows;
    c->sums = 0;
    c->state = c->r->apart ? half : c->r->gates * c->q;
    c->tmp = c->state + c->q;
    c->wx = c->tmp + c->q;
}

static hd_status one_step(struct cell *c, int i) {
    bool together = c->r->together;
    if (c->r->gates == 4) return together ? lstm_short_step(c, i) : lstm_step(c, i);
    if (c->r->gates == 1) return rnn_step(c, i);
    if (!c->r->linear_before_reset) return gru_after_step(c, i);
    return together ? gru_short_step(c, i) : gru_before_step(c, i);
}

static hd_status sequence(struct cell *c) {
    int ahead = c->r->ahead, steps = c->r->steps;
    int64_t group = 0;
    place_sums(c);
    for (int i = 0; i < steps; i++) {
        bool first = i == 0, block = c->r->w_stay && ahead > 1 ? first : i % ahead == 0;
        begin_row(c, i, &group);
        if (block) TRY(block_of_x(c, i, (int)hd_min(ahead, steps - i)));
        if (first) {
            TRY(begin_state(c));
            TRY(begin_h(c));
        }
        TRY(one_step(c, i));
        if (fills(c, i)) TRY(scale_of_filler(c, i + ahead - 1));
        TRY(store_rows(c, i));
    }
    return c->r->out_state < 0 ? HD_OK : store_state(c);
}

hd_status hd_low_recurrent(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    const struct hd_recurrent *r = &l->rnn;
    struct cell c = {
        .w = w, .r = r, .x = hd_low_tensor(w, l->in[0]), .y = hd_low_tensor(w, l->out)};
    int64_t nts = tiles(&c), stay_w = r->w_stay ? nts * r->cwx : 0;
    int64_t stay_r = (int64_t)r->r_stay * r->cwh;
    bool all = r->w_stay && r->r_stay == nts;
    for (c.d = 0; c.d < r->directions; c.d++) {
        int64_t ring = all ? 0 : r->wm_ring;
        c.backwards = r->reverse || c.d == 1;
        c.wm[OF_X] = hd_ring_take(&w->wm, stay_w + stay_r + ring);
        c.wm[OF_H] = c.wm[OF_X] + stay_w;
        c.wm_ring = (struct hd_ring){c.wm[OF_H] + stay_r, ring, 0};
        if (r->pm_stay) c.pm = hd_ring_take(&w->pm, 2 * nts);
        for (int p = 0; p < PARTS; p++) c.loaded[p] = 0, c.pm_loaded[p] = false;
        for (c.b0 = 0; c.b0 < r->batch; c.b0 += r->rows) {
            c.rows = (int)hd_min(r->rows, r->batch - c.b0);
            TRY(sequence(&c));
        }
    }
    return HD_OK;
}
