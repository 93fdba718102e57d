/* Mean of an image: partial sums in binary32 in AM, in the order that docs/numerics.md gives. */
#include "compiler/sched/lower.h"
#include "runtime/base/num.h"

enum { LANES = 4 }; /* partial sums, docs/numerics.md */

/* partial[at ..] (+)= (x - x_zp) * x_scale over n_taps neighbouring pixels and nv vectors of
 * channels. */
static hd_status mean_taps(struct hd_lowerer *w, const struct hd_view *px, int n_taps, int v0,
                           int nv, int64_t partial, bool first) {
    int n = (int)w->m->n;
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_operand_a(w);
    hd_low_set(w, HD_F_vx_a, (int64_t)px->at / n + v0);
    hd_low_set(w, HD_F_vx_d_kind, 1);
    hd_low_set(w, HD_F_vx_d, partial);
    if (!first)
        hd_low_set(w, HD_F_vx_alu, 1), hd_low_set(w, HD_F_vx_b_kind, 1),
            hd_low_set(w, HD_F_vx_b, partial);
    hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(1));
    hd_low_set(w, HD_F_vx_n0, nv), hd_low_set(w, HD_F_vx_as0, 1), hd_low_set(w, HD_F_vx_bs0, 1),
        hd_low_set(w, HD_F_vx_ds0, 1);
    hd_low_set(w, HD_F_vx_n1, n_taps), hd_low_set(w, HD_F_vx_as1, px->cp / n),
        hd_low_set(w, HD_F_vx_bs1, nv), hd_low_set(w, HD_F_vx_ds1, nv);
    hd_low_set(w, HD_F_vx_n2, 1), hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_touch(w, px, false);
    hd_sched_touch(&w->s, HD_SPACE_AM, partial, partial + (int64_t)n_taps * nv, true);
    return hd_sched_end(&w->s);
}

/* sums[0, n) = sums[0, n) + sums[n, 2n), all binary32 in AM. */
static hd_status mean_fold(struct hd_lowerer *w, int64_t sums, int n) {
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_set(w, HD_F_vx_a_kind, 1), hd_low_set(w, HD_F_vx_a, sums),
        hd_low_set(w, HD_F_vx_a_scale, hd_low_f32_bits(1));
    hd_low_set(w, HD_F_vx_b_kind, 1), hd_low_set(w, HD_F_vx_b, sums + n),
        hd_low_set(w, HD_F_vx_b_scale, hd_low_f32_bits(1));
    hd_low_set(w, HD_F_vx_alu, 1);
    hd_low_set(w, HD_F_vx_d_kind, 1), hd_low_set(w, HD_F_vx_d, sums);
    hd_low_set(w, HD_F_vx_n0, n), hd_low_set(w, HD_F_vx_as0, 1), hd_low_set(w, HD_F_vx_bs0, 1),
        hd_low_set(w, HD_F_vx_ds0, 1);
    hd_low_set(w, HD_F_vx_n1, 1), hd_low_set(w, HD_F_vx_n2, 1), hd_low_set(w, HD_F_vx_n3, 1);
    hd_sched_touch(&w->s, HD_SPACE_AM, sums, sums + 2 * n, true);
    return hd_sched_end(&w->s);
}

static hd_status mean_requantise(struct hd_lowerer *w, int64_t sums, int nv,
                                 const struct hd_view *out, int v0) {
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_set(w, HD_F_vx_a_kind, 1), hd_low_set(w, HD_F_vx_a, sums),
        hd_low_set(w, HD_F_vx_a_scale, hd_low_f32_bits(w->l->b_scale));
    hd_low_set(w, HD_F_vx_b_kind, 4);
    hd_low_set(w, HD_F_vx_d, (int64_t)out->at / (int)w->m->n + v0);
    hd_low_set(w, HD_F_vx_n0, nv), hd_low_set(w, HD_F_vx_as0, 1), hd_low_set(w, HD_F_vx_ds0, 1);
    hd_low_set(w, HD_F_vx_n1, 1), hd_low_set(w, HD_F_vx_n2, 1), hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_set_requant(w);
    hd_sched_touch(&w->s, HD_SPACE_AM, sums, sums + nv, false);
    hd_low_touch(w, out, true);
    return hd_sched_end(&w->s);
}

static hd_status mean_fold_lanes(struct hd_lowerer *w, int64_t sums, int nv) {
    TRY(mean_fold(w, sums, 2 * nv));
    return mean_fold(w, sums, nv);
}

/* nv vectors of channels, from vector from_v of `in` to v0 of `out`: neighbouring pixels go to the
 * four partial sums in turn. */
static hd_status mean_channels(struct hd_lowerer *w, const struct hd_view *in, int from_v,
                               const struct hd_view *out, int v0, int nv) {
    int count = in->rows * in->cols, main_count = count / LANES * LANES;
    int64_t sums = hd_low_accumulators(w, (int64_t)LANES * nv);
    for (int i = 0, n; i < count; i += n) {
        int y = i / in->cols, x = i % in->cols, lane = i < main_count ? i % LANES : 0;
        n = i < main_count ? (int)hd_min(LANES - lane, hd_min(in->cols - x, main_count - i)) : 1;
        struct hd_view px = {.at = in->at + (uint32_t)(y * in->pitch + x * in->cp),
                             .pitch = in->pitch,
                             .cp = in->cp,
                             .rows = 1,
                             .cols = n,
                             .y = y,
                             .x = x};
        bool first = main_count ? i < LANES : i == 0;
        if (i == main_count && i > 0) TRY(mean_fold_lanes(w, sums, nv));
        TRY(mean_taps(w, &px, n, from_v, nv, sums + (int64_t)lane * nv, first));
    }
    if (main_count == count) TRY(mean_fold_lanes(w, sums, nv));
    return mean_requantise(w, sums, nv, out, v0);
}

/* Vectors [v0, v0 + nv) of all pixels of a streamed image. */
static hd_status load_channels(struct hd_lowerer *w, int img, int v0, int nv, struct hd_view *out) {
    const struct hd_mtensor *x = hd_low_tensor(w, w->l->in[0]);
    int bytes = nv * (int)w->m->n;
    int64_t row = (int64_t)x->w * x->cp, at = (int64_t)x->arena + img * x->h * row;
    int64_t take = hd_round_up((int64_t)x->h * x->w * bytes, 64);
    *out = (struct hd_view){.at = (uint32_t)hd_ring_take(&w->xm_in[HD_RING_MX], take),
                            .pitch = x->w * bytes,
                            .cp = bytes,
                            .rows = x->h,
                            .cols = x->w};
    hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_low_set(w, HD_F_lx_seg, 1);
    hd_low_set(w, HD_F_lx_src, at + v0 * (int)w->m->n);
    hd_low_set(w, HD_F_lx_dst, out->at);
    hd_low_set(w, HD_F_lx_run, bytes);
    hd_low_set(w, HD_F_lx_n1, x->w), hd_low_set(w, HD_F_lx_s1, x->cp),
        hd_low_set(w, HD_F_lx_d1, bytes);
    hd_low_set(w, HD_F_lx_n2, x->h), hd_low_set(w, HD_F_lx_s2, row),
        hd_low_set(w, HD_F_lx_d2, out->pitch);
    hd_low_set(w, HD_F_lx_n3, 1);
    hd_sched_touch(&w->s, HD_SPACE_ARENA, at, at + x->h * row, false);
    hd_low_touch(w, out, true);
    return hd_sched_end(&w->s);
}

hd_status hd_low_mean(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_low_tensor(w, l->in[0]);
    int vectors = hd_low_tensor(w, l->out)->bytes / (int)w->m->n,
        most = (int)hd_am_words(w->m) / 2 / LANES;
    int64_t slab = hd_round_up((int64_t)x->h * x->w * (int)w->m->n, 64); /* of one vector */
    if (x->resident)
        TRY(hd_low_input(w, 0, t->img, 0, 0, l->kh, l->kw, &t->in[0]));
    else
        most = (int)hd_min(most, l->ring_in / 2 / slab);
    struct hd_view out = hd_low_output(w, t->img, 0, 0, 1, 1, hd_low_tensor(w, l->out)->bytes);
    for (int v = 0; v < vectors; v += most) {
        int nv = (int)hd_min(most, vectors - v);
        if (!x->resident) TRY(load_channels(w, t->img, v, nv, &t->in[0]));
        TRY(mean_channels(w, &t->in[0], x->resident ? v : 0, &out, v, nv));
    }
    return hd_low_store(w, t->img, &out, 0, hd_low_tensor(w, l->out)->bytes);
}
