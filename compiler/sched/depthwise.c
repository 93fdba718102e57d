/* Depthwise layers: vx.dw over the rows of a tile, and the last tile in halves. */
#include "compiler/sched/lower.h"
#include "runtime/base/num.h"

/* Output rows and vectors of channels of one vx.dw, from the first of its tile and of pm; its outer
 * loop goes over the rows or over the vectors: of the other there is one. */
struct part {
    int row, rows, vec, vecs;
};

/* What a tile's windows read of operand i: the rows of those output rows. */
static struct hd_view window_rows(const struct hd_lowerer *w, const struct hd_tile *t, int i,
                                  const struct part *q) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_low_tensor(w, l->in[0]);
    int rows = (q->rows - 1) * l->sy + (l->kh - 1) * l->dy + 1;
    struct hd_view v = t->in[i];
    if (x->roll || x->apart) { /* contiguous for one row of windows, not for all */
        int first = 0, cols = x->apart ? hd_low_pair_columns(l, t->tw, i, &first) : v.cols;
        struct hd_view r = hd_low_resident(x, t->img, (t->y + q->row) * l->sy - l->pt,
                                           t->x * l->sx - l->pl + first, rows, cols);
        r.alternate = r.other, r.other = 0;
        return r;
    }
    v.at += (uint32_t)(q->row * l->sy * v.pitch), v.y += q->row * l->sy, v.rows = rows;
    return v;
}

/* One operation: windows, or one part of them, whose sums go to AM. Where taps are dilated it makes
 * every dx-th column of the result, whose windows slide over every dx-th of the input. */
struct window {
    struct hd_dw_part taps;
    int64_t am; /* of its first sum, -1: whole windows, to XM */
    int parts;  /* words of AM for each vector of the result, and between its sums */
    int phase;  /* the first column, below dx */
};

static void sums_to_am(struct hd_lowerer *w, const struct hd_tile *t, const struct part *q,
                       const struct window *v) {
    int64_t row = (int64_t)t->tw * v->parts;
    bool many = q->rows * q->vecs > 1;
    hd_low_set(w, HD_F_vx_d_kind, 2);
    hd_low_set(w, HD_F_vx_a_scale, hd_low_f32_bits(1));
    hd_low_set(w, HD_F_vx_d, v->am + v->phase * v->parts);
    hd_low_set(w, HD_F_vx_ds1, v->parts * w->l->dx), hd_low_set(w, HD_F_vx_ds3, many ? row : 0);
    int64_t end = v->am + row * q->rows * q->vecs - v->parts + 1;
    hd_sched_touch(&w->s, HD_SPACE_AM, v->am, end, true);
}

static hd_status window_columns(struct hd_lowerer *w, const struct hd_tile *t, int nt, int64_t pm,
                                const struct hd_view *out, int c, const struct part *q,
                                const struct window *v) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_low_tensor(w, l->in[0]);
    int lanes = (int)w->m->n, at = q->vec + (t->channels && !x->resident ? 0 : nt);
    bool down = q->rows > 1;
    struct hd_view src = window_rows(w, t, 0, q), dst = *out;
    int64_t first = v->taps.row * l->dy * src.pitch + (v->taps.col * l->dx + v->phase) * src.cp;
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_dw);
    hd_low_operand_a(w);
    hd_low_set(w, HD_F_vx_use_bias, v->am < 0), hd_low_set(w, HD_F_vx_scale_pm, v->am < 0);
    hd_low_set(w, HD_F_vx_sx, l->sx / v->taps.step);
    if (x->apart || hd_layer_pairs(w->lo, l)) {
        struct hd_view b = window_rows(w, t, 1, q);
        hd_low_set(w, HD_F_vx_b_kind, x->is_unsigned ? 3 : 2);
        hd_low_set(w, HD_F_vx_b, (int64_t)b.at / lanes + at);
        hd_low_set(w, HD_F_vx_bs0, b.cp / lanes);
        hd_low_set(w, HD_F_vx_bs2, l->dy * b.pitch / lanes);
        hd_low_set(w, HD_F_vx_bs3, down ? l->sy * b.pitch / lanes : 1);
        hd_low_touch(w, &b, false);
    }
    hd_low_set(w, HD_F_vx_a, ((int64_t)src.at + first) / lanes + at);
    hd_low_set(w, HD_F_vx_p, pm + q->vec * l->pm_words + v->taps.pm);
    hd_low_set(w, HD_F_vx_n0, v->taps.kw);
    hd_low_set(w, HD_F_vx_as0, v->taps.step * l->dx * src.cp / lanes);
    hd_low_set(w, HD_F_vx_n1, hd_ceil_div(t->tw - v->phase, l->dx));
    hd_low_set(w, HD_F_vx_n2, v->taps.kh), hd_low_set(w, HD_F_vx_as2, l->dy * src.pitch / lanes);
    hd_low_set(w, HD_F_vx_n3, down ? q->rows : q->vecs);
    hd_low_set(w, HD_F_vx_as3, down ? l->sy * src.pitch / lanes : 1);
    hd_low_set(w, HD_F_vx_ps3, down ? 0 : l->pm_words);
    if (t->channels && x->resident) src.at += (uint32_t)t->c, src.channels = t->channels;
    hd_low_touch(w, &src, false);
    hd_sched_touch(&w->s, HD_SPACE_PM, pm, pm + (int64_t)(q->vec + q->vecs) * l->pm_words, false);
    if (v->am >= 0) {
        sums_to_am(w, t, q, v);
        return hd_sched_end(&w->s);
    }
    dst.at += (uint32_t)(q->row * out->pitch), dst.rows = q->rows, dst.y += q->row;
    hd_low_set(w, HD_F_vx_d,
               (int64_t)(dst.at + (uint32_t)(c + v->phase * out->cp)) / lanes + q->vec);
    hd_low_set(w, HD_F_vx_ds1, l->dx * out->cp / lanes);
    hd_low_set(w, HD_F_vx_ds3, down ? out->pitch / lanes : 1);
    hd_low_touch(w, &dst, true);
    return hd_sched_end(&w->s);
}

static hd_status window_op(struct hd_lowerer *w, const struct hd_tile *t, int nt, int64_t pm,
                           const struct hd_view *out, int c, const struct part *q,
                           const struct window *v) {
    struct window of = *v;
    for (of.phase = 0; of.phase < hd_min(w->l->dx, t->tw); of.phase++)
        TRY(window_columns(w, t, nt, pm, out, c, q, &of));
    return HD_OK;
}

/* The parts' sums in AM, a vector of the result behind the other, become bytes of rows x vecs. */
static hd_status add_parts(struct hd_lowerer *w, const struct hd_tile *t, int64_t pm,
                           const struct hd_view *out, int c, const struct part *q, bool down,
                           const struct window *v) {
    const struct hd_layer *l = w->l;
    int lanes = (int)w->m->n, inner = down ? q->rows : q->vecs, outer = down ? q->vecs : q->rows;
    int64_t row = (int64_t)t->tw * v->parts;
    struct hd_view dst = *out;
    dst.at += (uint32_t)(q->row * out->pitch), dst.rows = q->rows, dst.y += q->row;
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_operand_a(w);
    hd_low_set(w, HD_F_vx_a_kind, 0), hd_low_set(w, HD_F_vx_a_imm, 0);
    hd_low_set(w, HD_F_vx_use_bias, 1), hd_low_set(w, HD_F_vx_scale_pm, 1);
    hd_low_set(w, HD_F_vx_red, 1), hd_low_set(w, HD_F_vx_nred, 1);
    hd_low_set(w, HD_F_vx_a, v->am);
    hd_low_set(w, HD_F_vx_d, (int64_t)(dst.at + (uint32_t)c) / lanes + q->vec);
    hd_low_set(w, HD_F_vx_p, pm + q->vec * l->pm_words);
    hd_low_set(w, HD_F_vx_n0, v->parts), hd_low_set(w, HD_F_vx_as0, 1);
    hd_low_set(w, HD_F_vx_n1, t->tw), hd_low_set(w, HD_F_vx_as1, v->parts);
    hd_low_set(w, HD_F_vx_ds1, out->cp / lanes);
    hd_low_set(w, HD_F_vx_n2, inner), hd_low_set(w, HD_F_vx_n3, outer);
    if (inner > 1) {
        hd_low_set(w, HD_F_vx_as2, row);
        hd_low_set(w, HD_F_vx_ds2, down ? out->pitch / lanes : 1);
        hd_low_set(w, HD_F_vx_ps2, down ? 0 : l->pm_words);
    }
    if (outer > 1) {
        hd_low_set(w, HD_F_vx_as3, row * inner);
        hd_low_set(w, HD_F_vx_ds3, down ? 1 : out->pitch / lanes);
        hd_low_set(w, HD_F_vx_ps3, down ? l->pm_words : 0);
    }
    hd_sched_touch(&w->s, HD_SPACE_AM, v->am, v->am + row * inner * outer, false);
    hd_sched_touch(&w->s, HD_SPACE_PM, pm, pm + (int64_t)(q->vec + q->vecs) * l->pm_words, false);
    hd_low_touch(w, &dst, true);
    return hd_sched_end(&w->s);
}

/* Windows of several parts: for as many rows and vectors as half of AM holds, all parts, and then
 * their sum. Operations go down the rows of one vector, or over the vectors of one row. */
static hd_status in_parts(struct hd_lowerer *w, const struct hd_tile *t, int nt, int n, int64_t pm,
                          const struct hd_view *out, int c, bool down, bool far) {
    struct window v = {.parts = hd_layer_dw_parts(w->l)};
    int64_t row = (int64_t)t->tw * v.parts, room = hd_max(1, hd_am_words(w->m) / 2 / row);
    int inner = down ? t->th : n, outer = down ? n : t->th;
    int in_n = (int)hd_min(inner, room), out_n = (int)hd_min(outer, room / inner);
    if (out_n < 1 || far) out_n = 1;
    for (int o = 0; o < outer; o += out_n)
        for (int i = 0; i < inner; i += in_n) {
            int os = (int)hd_min(out_n, outer - o), is = (int)hd_min(in_n, inner - i);
            int64_t am = hd_low_accumulators(w, row * is * os);
            for (int k = 0; k < os; k++)
                for (int p = 0; p < v.parts; p++) {
                    struct part q =
                        down ? (struct part){i, is, o + k, 1} : (struct part){o + k, 1, i, is};
                    v.taps = hd_layer_dw_part(w->l, p), v.am = am + k * is * row + p;
                    TRY(window_op(w, t, nt, pm, out, c, &q, &v));
                }
            struct part all = down ? (struct part){i, is, o, os} : (struct part){o, os, i, is};
            v.am = am;
            TRY(add_parts(w, t, pm, out, c, &all, down, &v));
        }
    return HD_OK;
}

/* An operation begins when the results of the one before are in XM, so the fewer the better. */
hd_status hd_low_depthwise(struct hd_lowerer *w, const struct hd_tile *t, int nt, int n, int64_t pm,
                           const struct hd_view *out, int c) {
    const struct hd_layer *l = w->l;
    int64_t step = (int64_t)hd_max(l->sy * t->in[0].pitch, out->pitch) / w->m->n;
    bool far = step > INT16_MAX, down = t->th > n && !far && !hd_low_tensor(w, l->in[0])->roll;
    struct window whole = {hd_layer_dw_part(l, 0), -1, 1, 0};
    if (hd_layer_dw_parts(l) > 1) return in_parts(w, t, nt, n, pm, out, c, down, far);
    for (int i = 0; i < (down ? n : t->th); i++) {
        struct part q = down ? (struct part){0, t->th, i, 1} : (struct part){i, 1, 0, n};
        TRY(window_op(w, t, nt, pm, out, c, &q, &whole));
    }
    return HD_OK;
}

/* Bytes of the first half of a pixel of this tile and chunk; 0: it is done at once. Only the last
 * bands of the last chunk, and where halves share no granule (deps.c). */
static int first_half(const struct hd_lowerer *w, const struct hd_tile *t, int nt) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_low_tensor(w, l->in[0]), *y = hd_low_tensor(w, l->out);
    bool last = nt >= 0 && nt + l->nb >= l->nts && t->img == y->n - 1 &&
                t->y + l->ask_halves * l->th >= l->oh;
    if (!l->ask_halves || l->kind != HD_LAYER_DEPTHWISE || !last || x->resident ||
        hd_layer_row(l, t->y) < 0)
        return 0;
    return (int)hd_floor_to((l->nts - nt) / 2 * (int)w->m->n, 64);
}

bool hd_low_in_halves(const struct hd_lowerer *w, const struct hd_tile *t, int nt) {
    return first_half(w, t, nt) > 0;
}

hd_status hd_low_halves(struct hd_lowerer *w, struct hd_tile *t, int nt) {
    const struct hd_layer *l = w->l;
    int lanes = (int)w->m->n, bytes = t->channels, half = first_half(w, t, nt), n = l->nts - nt;
    struct hd_chunk *ch = &w->chunks[nt / l->nb];
    w->first_half = half;
    hd_status ok = hd_low_inputs(w, t);
    w->first_half = 0;
    TRY(ok);
    if (ch->pm < 0) TRY(hd_low_params(w, nt, n, &ch->pm));
    bool resident = hd_low_tensor(w, l->out)->resident;
    struct hd_view all = hd_low_output(w, t->img, t->y, t->x, t->th, t->tw, bytes);
    TRY(hd_low_fill_lanes(w, &all, (l->nts - (resident ? 0 : nt)) * lanes,
                          resident ? hd_low_tensor(w, l->out)->bytes : bytes));
    for (int h = 0; h < 2; h++) {
        int from = h ? half : 0, size = h ? bytes - half : half, first = from / lanes;
        struct hd_tile part = *t;
        struct hd_view out = all;
        for (int i = 0; i < 2; i++) part.in[i].at += (uint32_t)from, part.in[i].channels = size;
        out.at += (uint32_t)(resident ? nt * lanes + from : from), out.channels = size;
        if (h) TRY(hd_low_second_half(w, t, half));
        TRY(hd_low_depthwise(w, &part, nt + first, h ? n - first : half / lanes,
                             ch->pm + first * l->pm_words, &out, 0));
        TRY(hd_low_store(w, t->img, &out, nt * lanes + from, size));
    }
    return HD_OK;
}
