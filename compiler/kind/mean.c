/* Mean of an image: sums of integers, one operation for each part of the image that is there; or
 * partial sums in binary32 in AM, in the order that docs/numerics.md gives. */
#include <math.h>

#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

enum {
    LANES = HD_MEAN_LANES,
    SUM_MOST = 1 << 24, /* binary32 holds all integers up to it */
    TERM_MOST = 383     /* of an i8 less a zero point of 255, or a u8 less one of -128 */
};

/* hd_layer.own */
struct scaling {
    float y;    /* of the sum, less that of the operand */
    bool exact; /* sums of integers, in any order */
};

static const struct scaling *own_of(const struct hd_layer *l) {
    return l->own;
}

/* A loop over n vectors, which lie side by side in all memories. */
static void loop(struct hd_lowerer *w, int n) {
    hd_lower_map_loop(w, 0, n, 1, 1, 1);
    for (int i = 1; i < 4; i++) hd_lower_map_loop(w, i, 1, 0, 0, 0);
}

/* partial[at ..] (+)= (x - x_zp) * x_scale over n_taps neighbouring pixels and nv vectors of
 * channels. */
static hd_status mean_taps(struct hd_lowerer *w, const struct hd_view *px, int n_taps, int v0,
                           int nv, int64_t partial, bool first) {
    int n = (int)w->m->n;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    hd_lower_set(w, HD_F_vx_a, (int64_t)px->at / n + v0);
    hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_f32);
    hd_lower_set(w, HD_F_vx_d, partial);
    if (!first)
        hd_lower_set(w, HD_F_vx_alu, HD_V_vx_alu_add),
            hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_am_f32),
            hd_lower_set(w, HD_F_vx_b, partial);
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(1));
    loop(w, nv);
    hd_lower_map_loop(w, 1, n_taps, px->cp / n, nv, nv);
    hd_lower_touch(w, px, false);
    hd_ops_touch(&w->s, HD_SPACE_AM, partial, partial + (int64_t)n_taps * nv, true);
    return hd_ops_end(&w->s);
}

/* Folds the partial sums of nv vectors, binary32 in AM, into the first: halves, then quarters. */
static hd_status mean_fold(struct hd_lowerer *w, int64_t sums, int nv) {
    for (int n = LANES / 2 * nv; n >= nv; n /= 2) {
        hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
        hd_lower_set(w, HD_F_vx_a_kind, HD_V_vx_kind_am_f32), hd_lower_set(w, HD_F_vx_a, sums),
            hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(1));
        hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_am_f32), hd_lower_set(w, HD_F_vx_b, sums + n),
            hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(1));
        hd_lower_set(w, HD_F_vx_alu, HD_V_vx_alu_add);
        hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_f32), hd_lower_set(w, HD_F_vx_d, sums);
        loop(w, n);
        hd_ops_touch(&w->s, HD_SPACE_AM, sums, sums + 2 * n, true);
        TRY(hd_ops_end(&w->s));
    }
    return HD_OK;
}

static hd_status mean_requantise(struct hd_lowerer *w, int64_t sums, int nv,
                                 const struct hd_view *out, int v0) {
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, HD_V_vx_kind_am_f32), hd_lower_set(w, HD_F_vx_a, sums),
        hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(own_of(w->l)->y));
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_d, (int64_t)out->at / (int)w->m->n + v0);
    loop(w, nv);
    hd_lower_set_requant(w);
    hd_ops_touch(&w->s, HD_SPACE_AM, sums, sums + nv, false);
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

/* The mean of some vectors of channels in work: neighbouring pixels go to the four partial sums in
 * turn. */
struct mean {
    int count;    /* pixels of the image */
    int from, nv; /* vectors of the result */
    int64_t sums; /* AM: LANES partial sums of nv vectors; exact ones: one of each */
    bool done;    /* the result is there */
};

/* The sum of pixels v, exact: the result in `out` where they are the whole image, else a part of it
 * in AM. */
static hd_status mean_exact(struct hd_lowerer *w, struct mean *q, const struct hd_view *v,
                            int from_v, bool first, const struct hd_view *out) {
    int n = (int)w->m->n, pixel = v->cp / n;
    q->done = first && v->rows * v->cols == q->count;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    hd_lower_set(w, HD_F_vx_a, (int64_t)v->at / n + from_v);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(q->done ? own_of(w->l)->y : 1));
    hd_lower_set(w, HD_F_vx_red, HD_V_vx_red_sum), hd_lower_set(w, HD_F_vx_nred, 2);
    hd_lower_map_loop(w, 0, v->cols, pixel, 0, 0);
    hd_lower_map_loop(w, 1, v->rows, v->pitch / n, 0, 0);
    hd_lower_map_loop(w, 2, q->nv, 1, 1, 1);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_touch(w, v, false);
    if (q->done) {
        hd_lower_set(w, HD_F_vx_d, (int64_t)out->at / n + q->from);
        hd_lower_touch(w, out, true);
        return hd_ops_end(&w->s);
    }
    if (!first)
        hd_lower_set(w, HD_F_vx_alu, HD_V_vx_alu_add),
            hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_am_f32),
            hd_lower_set(w, HD_F_vx_b, q->sums);
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(1));
    hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_f32), hd_lower_set(w, HD_F_vx_d, q->sums);
    hd_ops_touch(&w->s, HD_SPACE_AM, q->sums, q->sums + q->nv, true);
    return hd_ops_end(&w->s);
}

/* Adds pixels [at, at + rows * cols) of the image, which are those of v; the vectors begin with
 * vector from_v of its pixels. at is a multiple of LANES. */
static hd_status mean_pixels(struct hd_lowerer *w, const struct mean *q, const struct hd_view *v,
                             int from_v, int at) {
    int main_count = q->count / LANES * LANES;
    for (int k = 0, n; k < v->rows * v->cols; k += n) {
        int y = k / v->cols, x = k % v->cols, i = at + k, lane = i < main_count ? i % LANES : 0;
        n = i < main_count ? (int)hd_min(LANES - lane, hd_min(v->cols - x, main_count - i)) : 1;
        struct hd_view px = *v;
        px.at += (uint32_t)(y * v->pitch + x * v->cp), px.rows = 1, px.cols = n;
        bool first = main_count ? i < LANES : i == 0;
        if (i == main_count && i > 0) TRY(mean_fold(w, q->sums, q->nv));
        TRY(mean_taps(w, &px, n, from_v, q->nv, q->sums + (int64_t)lane * q->nv, first));
    }
    return HD_OK;
}

/* Vectors [q->from, q->from + q->nv) of n pixels of a streamed image, from pixel `at` on, to byte
 * xm_at of XM. */
static hd_status load_pixels(struct hd_lowerer *w, int img, const struct mean *q, int at, int n,
                             uint32_t xm_at, struct hd_view *out) {
    const struct hd_mtensor *x = hd_lower_tensor(w, w->l->in[0]);
    const struct hd_placement *xp = hd_lower_place(w, w->l->in[0]);
    int bytes = q->nv * (int)w->m->n;
    bool whole = bytes == x->cp;
    int64_t src = (int64_t)xp->arena + ((int64_t)img * q->count + at) * x->cp +
                  (int64_t)q->from * (int)w->m->n;
    *out = (struct hd_view){.at = xm_at, .pitch = n * bytes, .cp = bytes, .rows = 1, .cols = n};
    hd_lower_begin_load(w, HD_V_seg_arena, src, out->at, whole ? n * bytes : bytes);
    hd_lower_runs(w, 1, whole ? 1 : n, x->cp, bytes);
    hd_ops_touch(&w->s, HD_SPACE_ARENA, src, src + (int64_t)(n - 1) * x->cp + bytes, false);
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

/* Pixels of a streamed image that come at a time. */
static int piece(const struct hd_lowerer *w, const struct mean *q) {
    int64_t room = (w->xm_in[w->in].size / 2 - 63) / (q->nv * w->m->n),
            even = q->count / hd_knob(w->lo)->mean_pieces;
    return (int)hd_max(LANES, hd_floor_to(hd_min(room, even), LANES));
}

static hd_status mean_streamed(struct hd_lowerer *w, struct hd_tile *t, struct mean *q,
                               const struct hd_view *out) {
    int most = piece(w, q);
    int64_t bytes = q->nv * (int64_t)w->m->n, rounded = hd_round_up(most * bytes, 64);
    for (int at = 0, n; at < q->count; at += n) {
        n = (int)hd_min(most, q->count - at);
        int64_t to = hd_ring_take(w, &w->xm_in[w->in], rounded);
        TRY(load_pixels(w, t->img, q, at, n, (uint32_t)to, &t->in[0]));
        TRY(own_of(w->l)->exact ? mean_exact(w, q, &t->in[0], 0, !at, out)
                                : mean_pixels(w, q, &t->in[0], 0, at));
    }
    return HD_OK;
}

static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    int bytes = hd_lower_tensor(w, l->out)->bytes, n = (int)w->m->n, vectors = bytes / n;
    int64_t most = hd_am_words(w->m) / 2 / LANES;
    bool exact = own_of(l)->exact;
    struct hd_view *v = &t->in[0];
    if (xp->resident) {
        TRY(hd_lower_input(w, 0, t->img, 0, 0, l->kh, l->kw, v));
        /* without padding the image is one row, of which no run of pixels ends early */
        if (v->pitch == v->cols * v->cp && !v->other) v->cols *= v->rows, v->rows = 1;
    } else
        most = hd_min(most, (w->xm_in[w->in].size / 2 - 63) / (LANES * n));
    struct hd_view out = hd_lower_output(w, t->img, 0, 0, 1, 1, bytes);
    for (int c = 0; c < vectors; c += (int)most) {
        struct mean q = {x->h * x->w, c, (int)hd_min(most, vectors - c), 0, false};
        q.sums = hd_lower_accumulators(w, (int64_t)LANES * q.nv);
        if (!xp->resident)
            TRY(mean_streamed(w, t, &q, &out));
        else
            TRY(exact ? mean_exact(w, &q, v, c, true, &out) : mean_pixels(w, &q, v, c, 0));
        if (!exact && q.count % LANES == 0) TRY(mean_fold(w, q.sums, q.nv));
        if (!q.done) TRY(mean_requantise(w, q.sums, q.nv, &out, c));
    }
    return hd_lower_store(w, t->img, &out, 0, bytes);
}

static hd_status make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    l->kh = lo->tensors[l->in[0]].h, l->kw = lo->tensors[l->in[0]].w; /* the window is the image */
    l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
    l->a_scale = hd_attr_float(n, "x_scale", 1);
    struct scaling *own = hd_new(lo->arena, struct scaling);
    own->y = hd_attr_float(n, "scale", 1);
    own->exact = l->a_scale == 1 && SUM_MOST / TERM_MOST >= (int64_t)l->kh * l->kw;
    l->own = own;
    return HD_OK;
}

/* Terms are multiples of x_scale: above this their sums are never subnormal (docs/numerics.md). */
static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    float x_scale = hd_attr_float(&lo->g->nodes[node], "x_scale", 1);
    if (x_scale == 0 || fabsf(x_scale) >= 0x1p-100F) return NULL;
    *out_hint = "scale the tensors of the network so that x_scale is at least 2^-100";
    return "x_scale is below 2^-100, and the machine has no subnormal numbers";
}

/* A few pixels at a time, of some of their channels. */
static struct hd_tile_bytes tile_bytes(const struct hd_lowering *lo, const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    struct hd_tile_bytes bytes = {0};
    if (hd_layer_streams(lo, l, 0))
        bytes.in = 64 + hd_round_up(hd_layer_pitch(l, LANES * (int)lo->m->n), 64);
    if (!lo->plan->places[l->out].resident)
        bytes.out = hd_round_up((int64_t)lt->th * lt->tw * lo->tensors[l->out].bytes, 64);
    return bytes;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return (int64_t)l->nts * l->kh * l->kw;
}

const struct hd_kind hd_kind_mean = {
    .name = "mean",
    .operations = "vx.map",
    .expression = "sum over i, j of x[m,i,j]",
    .memories = "XM AM -> AM, AM -> XM",
    .takes_parts = true,
    .wish = HD_WISH_IMAGE,
    .refuses = refuses,
    .make = make,
    .pixel_cycles = pixel_cycles,
    .vector_ops = hd_vectors_of_windows,
    .tile_bytes = tile_bytes,
    .lower = lower,
};
