/* Softmax and layer norm of a tile of pixels: passes of vx.map as docs/numerics.md defines them.
 *
 * Per pixel there are vectors in one half of AM and sums in the other, so that a pass that reads
 * both does not wait for banks. */
#include <math.h>

#include "compiler/sched/lower.h"
#include "runtime/base/num.h"

struct rows {
    const struct hd_tile *t;
    struct hd_view out;
    int vectors;          /* of a pixel, those of padding included */
    int counted;          /* that reductions take, the last of them up to lane `tail` */
    int64_t values, aux;  /* AM: vectors of each pixel, in either half */
    int64_t first, total; /* AM: a word of each pixel */
};

/* vx.map over the vectors of all pixels; loops (vector, column, row). Those that reduce nothing do
 * not look at `tail`, so it is the same in all. */
static void begin(struct hd_lowerer *w, const struct rows *r) {
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_set(w, HD_F_vx_a_kind, HD_V_vx_kind_zero);
    hd_low_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_low_set(w, HD_F_vx_n0, r->vectors), hd_low_set(w, HD_F_vx_n1, r->t->tw);
    hd_low_set(w, HD_F_vx_n2, r->t->th), hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_set(w, HD_F_vx_tail, w->l->oc % (int)w->m->n);
}

enum which { A, B, D };

/* Operand or result `at`, with these steps between vectors, columns and rows. */
static void stream(struct hd_lowerer *w, enum which which, int64_t at, int64_t s0, int64_t s1,
                   int64_t s2) {
    static const enum hd_field field[][4] = {{HD_F_vx_a, HD_F_vx_as0, HD_F_vx_as1, HD_F_vx_as2},
                                             {HD_F_vx_b, HD_F_vx_bs0, HD_F_vx_bs1, HD_F_vx_bs2},
                                             {HD_F_vx_d, HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2}};
    const int64_t v[] = {at, s0, s1, s2};
    for (int i = 0; i < 4; i++) hd_low_set(w, field[which][i], v[i]);
}

static void kind(struct hd_lowerer *w, enum which which, int k, float scale) {
    static const enum hd_field field[] = {HD_F_vx_a_kind, HD_F_vx_b_kind, HD_F_vx_d_kind};
    hd_low_set(w, field[which], k);
    if (which != D)
        hd_low_set(w, which == A ? HD_F_vx_a_scale : HD_F_vx_b_scale, hd_low_f32_bits(scale));
}

/* The bytes of the operand (A) or result (D). */
static void bytes(struct hd_lowerer *w, const struct rows *r, enum which which) {
    const struct hd_view *v = which == A ? &r->t->in[0] : &r->out;
    int n = (int)w->m->n;
    stream(w, which, (int64_t)v->at / n, 1, v->cp / n, v->pitch / n);
    hd_low_touch(w, v, which == D);
    if (which == D) hd_low_set_requant(w);
}

static void operand(struct hd_lowerer *w, const struct rows *r, float scale) {
    bytes(w, r, A);
    kind(w, A, hd_low_byte_kind(w, 0), scale);
}

/* Vectors of all pixels in AM. */
static void values(struct hd_lowerer *w, const struct rows *r, enum which which, int64_t at, int k,
                   float scale) {
    int64_t row = (int64_t)r->t->tw * r->vectors;
    stream(w, which, at, 1, r->vectors, row);
    kind(w, which, k, scale);
    hd_sched_touch(&w->s, HD_SPACE_AM, at, at + r->t->th * row, which == D);
}

/* One word of each pixel in AM, for all its vectors. */
static void word(struct hd_lowerer *w, const struct rows *r, enum which which, int64_t at) {
    stream(w, which, at, 0, 1, r->t->tw);
    kind(w, which, which == D ? HD_V_vx_dest_am_f32 : HD_V_vx_kind_am_f32, 1);
    hd_sched_touch(&w->s, HD_SPACE_AM, at, at + (int64_t)r->t->th * r->t->tw, which == D);
}

/* The operation reduces along each pixel. */
static void reduce(struct hd_lowerer *w, const struct rows *r, int red) {
    hd_low_set(w, HD_F_vx_red, red);
    hd_low_set(w, HD_F_vx_nred, 1), hd_low_set(w, HD_F_vx_lanes, 1);
    hd_low_set(w, HD_F_vx_n0, r->counted);
}

static void compute(struct hd_lowerer *w, int alu, int fn) {
    hd_low_set(w, HD_F_vx_alu, alu), hd_low_set(w, HD_F_vx_fn, fn);
}

/* Rooms in AM for the pixels of the tile. */
static struct rows rows_of(struct hd_lowerer *w, const struct hd_tile *t) {
    int n = (int)w->m->n, cp = hd_low_tensor(w, w->l->out)->bytes, pixels = t->th * t->tw;
    struct rows r = {.t = t, .vectors = cp / n, .counted = (int)hd_ceil_div(w->l->oc, n)};
    r.out = hd_low_output(w, t->img, t->y, t->x, t->th, t->tw, cp);
    r.values = hd_low_accumulators(w, (int64_t)pixels * r.vectors);
    r.first = hd_low_accumulators(w, (int64_t)pixels * hd_rows_words(w->lo, w->l));
    r.total = r.first + pixels, r.aux = r.total + pixels;
    return r;
}

static hd_status softmax(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    int bits = hd_softmax_bits(l->oc);
    begin(w, r); /* the largest, scaled */
    operand(w, r, l->a_scale);
    reduce(w, r, HD_V_vx_red_max);
    word(w, r, D, r->first);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* e = exp(x - largest) */
    operand(w, r, l->a_scale);
    word(w, r, B, r->first);
    compute(w, HD_V_vx_alu_sub, HD_V_vx_fn_exp);
    values(w, r, D, r->values, HD_V_vx_dest_am_int32, 0);
    hd_low_set(w, HD_F_vx_q, bits);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* their sum */
    values(w, r, A, r->values, HD_V_vx_kind_am_int32, ldexpf(1, -bits));
    reduce(w, r, HD_V_vx_red_sum);
    word(w, r, D, r->total);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* e / sum */
    word(w, r, A, r->total);
    values(w, r, B, r->values, HD_V_vx_kind_am_int32, l->b_scale);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_rcp);
    bytes(w, r, D);
    return hd_sched_end(&w->s);
}

static hd_status deviations(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    if (!l->centred) { /* d = x - x_zp */
        begin(w, r);
        operand(w, r, 1);
        hd_low_set(w, HD_F_vx_a_imm, l->a_imm);
        values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
        return hd_sched_end(&w->s);
    }
    begin(w, r); /* mean */
    operand(w, r, l->a_scale);
    reduce(w, r, HD_V_vx_red_sum);
    word(w, r, D, r->first);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* d = x - mean */
    operand(w, r, 1);
    word(w, r, B, r->first);
    compute(w, HD_V_vx_alu_sub, HD_V_vx_fn_none);
    values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
    return hd_sched_end(&w->s);
}

static hd_status norm(struct hd_lowerer *w, const struct rows *r) {
    const struct hd_layer *l = w->l;
    int bits = hd_norm_bits(l->oc);
    TRY(deviations(w, r));
    begin(w, r); /* squares */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    values(w, r, B, r->values, HD_V_vx_kind_am_f32, 1);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_none);
    values(w, r, D, r->aux, HD_V_vx_dest_am_int32, 0);
    hd_low_set(w, HD_F_vx_q, bits);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* 1 / sqrt(their mean + epsilon) */
    values(w, r, A, r->aux, HD_V_vx_kind_am_int32, ldexpf(l->a_scale, -bits));
    reduce(w, r, HD_V_vx_red_sum);
    hd_low_set(w, HD_F_vx_b_imm, 1), hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(l->b_scale));
    compute(w, HD_V_vx_alu_add, HD_V_vx_fn_rsqrt);
    word(w, r, D, r->total);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* d * that */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    word(w, r, B, r->total);
    compute(w, HD_V_vx_alu_mul, HD_V_vx_fn_none);
    values(w, r, D, r->values, HD_V_vx_dest_am_f32, 0);
    TRY(hd_sched_end(&w->s));
    begin(w, r); /* * scale + bias */
    values(w, r, A, r->values, HD_V_vx_kind_am_f32, 1);
    hd_low_set(w, HD_F_vx_scale_pm, 1);
    hd_low_set(w, HD_F_vx_b_kind, HD_V_vx_kind_pm_f32);
    hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(1));
    compute(w, HD_V_vx_alu_add, HD_V_vx_fn_none);
    hd_low_set(w, HD_F_vx_p, w->chunks[0].pm), hd_low_set(w, HD_F_vx_ps0, 1);
    hd_sched_touch(&w->s, HD_SPACE_PM, w->chunks[0].pm, w->chunks[0].pm + r->vectors, false);
    bytes(w, r, D);
    return hd_sched_end(&w->s);
}

hd_status hd_low_rows(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    bool is_norm = l->kind == HD_LAYER_NORM;
    TRY(hd_low_inputs(w, t));
    if (is_norm && w->chunks[0].pm < 0) { /* before the first tile */
        int words = hd_low_tensor(w, l->out)->bytes / (int)w->m->n;
        w->chunks[0].pm = hd_ring_take(&w->pm, words);
        hd_low_load_words(w, HD_V_lw_mem_pm, l->p_offset, w->chunks[0].pm, words, 1, 0, 0);
        TRY(hd_sched_end(&w->s));
    }
    struct rows r = rows_of(w, t);
    const int before = w->s.count[HD_UNIT_vx];
    TRY(is_norm ? norm(w, &r) : softmax(w, &r));
    HD_ASSERT(w->s.count[HD_UNIT_vx] - before == hd_rows_passes(l));
    return hd_low_store(w, t->img, &r.out, 0, hd_low_tensor(w, l->out)->bytes);
}
