/* Depthwise layers: vx.dw over the rows of a tile, or its columns. */
#include "compiler/kind/matmul.h"

#include <string.h>

#include "runtime/base/num.h"

/* Lines of output pixels and vectors of channels of one vx.dw, from the first of its tile and of
 * pm; its outer loop goes over the lines or over the vectors: of the other there is one. Windows
 * slide along a line, a row or a column of the tile, over `count` pixels from pixel `from`. */
struct part {
    int line, lines, vec, vecs, from, count;
};

/* What a tile's windows read of operand i: the rows of those output rows. */
static struct hd_view window_rows(const struct hd_lowerer *w, const struct hd_tile *t, int i,
                                  const struct part *q) {
    const struct hd_layer *l = w->l;
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    int row = l->down ? q->from : q->line, n = l->down ? q->count : q->lines;
    int rows = (n - 1) * l->sy + (l->kh - 1) * l->dy + 1;
    struct hd_view v = t->in[i];
    if (xp->roll || xp->apart) { /* contiguous for one row of windows, not for all */
        int first = 0, cols = xp->apart ? hd_lower_pair_columns(l, t->tw, i, &first) : v.cols;
        struct hd_view r = hd_lower_resident(xp, t->img, (t->y + row) * l->sy - l->pt,
                                             t->x * l->sx - l->pl + first, rows, cols);
        r.alternate = r.other, r.other = 0;
        return r;
    }
    v.at += (uint32_t)(row * l->sy * v.pitch), v.y += row * l->sy, v.rows = rows;
    return v;
}

/* One operation: windows, or one part of them, which adds to the sums of the parts before it. Where
 * taps are d apart it makes every d-th pixel of a line, whose windows slide over every d-th of the
 * input. */
struct window {
    struct hd_dw_part taps;
    int64_t am;       /* of the first sum, a word for each vector of the result */
    bool first, last; /* nothing to add to; to XM */
    int phase;        /* the first pixel, below d */
};

/* Operand B (sums to add to) or the destination (sums of this part) in AM. */
static void sums(struct hd_lowerer *w, const struct part *q, const struct window *v, bool write) {
    int many = q->lines * q->vecs;
    if (write)
        hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_int32);
    else
        hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_am_int32);
    hd_lower_set(w, write ? HD_F_vx_d : HD_F_vx_b, v->am + v->phase);
    hd_lower_set(w, write ? HD_F_vx_ds1 : HD_F_vx_bs1, hd_dw_along(w->l).d);
    hd_lower_set(w, write ? HD_F_vx_ds3 : HD_F_vx_bs3, many > 1 ? q->count : 0);
    hd_ops_touch(&w->s, HD_SPACE_AM, v->am, v->am + (int64_t)q->count * many, write);
}

/* Bytes of XM from a pixel of v to the next along a line, and across it. */
struct steps {
    int along, across;
};

static struct steps steps_of(const struct hd_layer *l, const struct hd_view *v) {
    return l->down ? (struct steps){v->pitch, v->cp} : (struct steps){v->cp, v->pitch};
}

/* Operand A, and B where every second column of the input is apart. */
static void operands(struct hd_lowerer *w, const struct hd_tile *t, int nt, const struct part *q,
                     const struct window *v) {
    const struct hd_layer *l = w->l;
    const struct hd_dw_side along = hd_dw_along(l), across = hd_dw_across(l);
    const struct hd_placement *xp = hd_lower_place(w, l->in[0]);
    int lanes = (int)w->m->n, at = q->vec + (t->channels && !xp->resident ? 0 : nt);
    struct hd_view src = window_rows(w, t, 0, q);
    struct steps step = steps_of(l, &src);
    int64_t first = (int64_t)src.at + v->taps.row * across.d * step.across +
                    (v->taps.col * along.d + v->phase) * step.along +
                    (l->down ? q->line * across.s * step.across : 0);
    hd_lower_operand_a(w);
    if (xp->apart || hd_layer_pairs(w->lo, w->lt)) {
        struct hd_view b = window_rows(w, t, 1, q);
        hd_lower_set(w, HD_F_vx_b_kind, hd_lower_byte_kind(w, 0));
        hd_lower_set(w, HD_F_vx_b, (int64_t)b.at / lanes + at);
        hd_lower_set(w, HD_F_vx_bs0, b.cp / lanes);
        hd_lower_set(w, HD_F_vx_bs2, l->dy * b.pitch / lanes);
        hd_lower_set(w, HD_F_vx_bs3, q->lines > 1 ? l->sy * b.pitch / lanes : 1);
        hd_lower_touch(w, &b, false);
    }
    hd_lower_set(w, HD_F_vx_a, first / lanes + at);
    hd_lower_set(w, HD_F_vx_as0, v->taps.step * along.d * step.along / lanes);
    hd_lower_set(w, HD_F_vx_as2, across.d * step.across / lanes);
    hd_lower_set(w, HD_F_vx_as3, q->lines > 1 ? across.s * step.across / lanes : 1);
    if (t->channels && xp->resident) src.at += (uint32_t)t->c, src.channels = t->channels;
    hd_lower_touch(w, &src, false);
}

static hd_status window_pixels(struct hd_lowerer *w, const struct hd_tile *t, int nt, int64_t pm,
                               const struct hd_view *out, int c, const struct part *q,
                               const struct window *v) {
    const struct hd_layer *l = w->l;
    const struct hd_dw_side along = hd_dw_along(l);
    const int lanes = (int)w->m->n;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_dw);
    operands(w, t, nt, q, v);
    hd_lower_set(w, HD_F_vx_use_bias, v->last), hd_lower_set(w, HD_F_vx_scale_pm, v->last);
    if (!v->last) /* sums, which are no bytes yet */
        hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(1)), hd_lower_set(w, HD_F_vx_lut, 0);
    hd_lower_set(w, HD_F_vx_sx, along.s / v->taps.step);
    hd_lower_set(w, HD_F_vx_p, pm + q->vec * l->pm_words + v->taps.pm);
    hd_lower_set(w, HD_F_vx_n0, v->taps.kw), hd_lower_set(w, HD_F_vx_n2, v->taps.kh);
    hd_lower_set(w, HD_F_vx_n1, hd_ceil_div(q->count - v->phase, along.d));
    hd_lower_set(w, HD_F_vx_n3, q->lines > 1 ? q->lines : q->vecs);
    hd_lower_set(w, HD_F_vx_ps3, q->lines > 1 ? 0 : l->pm_words);
    hd_ops_touch(&w->s, HD_SPACE_PM, pm, pm + (int64_t)(q->vec + q->vecs) * l->pm_words, false);
    if (!v->first) sums(w, q, v, false);
    if (!v->last) {
        sums(w, q, v, true);
        return hd_ops_end(&w->s);
    }
    struct hd_view dst = *out;
    struct steps step = steps_of(l, out);
    int row = l->down ? q->from : q->line;
    dst.at += (uint32_t)(row * out->pitch), dst.y += row;
    dst.rows = l->down ? q->count : q->lines;
    int64_t first =
        (int64_t)dst.at + c + v->phase * step.along + (l->down ? q->line * step.across : 0);
    hd_lower_set(w, HD_F_vx_d, first / lanes + q->vec);
    hd_lower_set(w, HD_F_vx_ds1, along.d * step.along / lanes);
    hd_lower_set(w, HD_F_vx_ds3, q->lines > 1 ? step.across / lanes : 1);
    hd_lower_touch(w, &dst, true);
    return hd_ops_end(&w->s);
}

static hd_status window_op(struct hd_lowerer *w, const struct hd_tile *t, int nt, int64_t pm,
                           const struct hd_view *out, int c, const struct part *q,
                           const struct window *v) {
    struct window of = *v;
    for (of.phase = 0; of.phase < hd_min(hd_dw_along(w->l).d, q->count); of.phase++)
        TRY(window_pixels(w, t, nt, pm, out, c, q, &of));
    return HD_OK;
}

/* Windows of so many parts, for as many lines or vectors at a time as half of AM holds sums of. */
static hd_status in_parts(struct hd_lowerer *w, const struct hd_tile *t, int nt, int64_t pm,
                          const struct hd_view *out, int c, const struct part *all, int parts) {
    int n = all->lines * all->vecs, room = (int)hd_max(1, hd_am_words(w->m) / 2 / all->count);
    for (int i = 0, some; i < n; i += some) {
        some = parts > 1 ? (int)hd_min(room, n - i) : n;
        struct part q = *all;
        if (all->lines > 1)
            q.line += i, q.lines = some;
        else
            q.vec += i, q.vecs = some;
        struct window v = {.am = parts > 1 ? hd_lower_accumulators(w, (int64_t)q.count * some) : 0};
        /* part 0 last: bias and scale lie before its taps */
        for (int p = parts - 1; p >= 0; p--) {
            v.taps = hd_layer_dw_part(w->l, p), v.first = p == parts - 1, v.last = p == 0;
            TRY(window_op(w, t, nt, pm, out, c, &q, &v));
        }
    }
    return HD_OK;
}

/* An operation begins when the results of the one before are in XM, so the fewer the better: they
 * go over the lines of one vector, or over the vectors of one line. Vectors whose weights are bytes
 * have no parts for other planes. */
hd_status hd_lower_depthwise(struct hd_lowerer *w, const struct hd_tile *t, int nt, int n,
                             int64_t pm, const struct hd_view *out, int c) {
    const struct hd_layer *l = w->l;
    const bool *live = hd_packed_of(l)->live;
    int64_t step = (int64_t)hd_max(l->sy * t->in[0].pitch, out->pitch) / w->m->n;
    bool roll = hd_lower_place(w, l->in[0])->roll;
    int lines = l->down ? t->tw : t->th, along = l->down ? t->th : t->tw;
    int count = l->down && roll ? 1 : along;
    bool all = lines > n && (l->down || (step <= INT16_MAX && !roll));
    for (int from = 0; from < along; from += count)
        for (int line = 0; line < (all ? 1 : lines); line++)
            for (int vec = 0, run; vec < n; vec += run) {
                int parts = hd_layer_dw_parts(l) / (live && !live[nt + vec] ? l->planes : 1);
                for (run = 1;
                     !all && vec + run < n && (!live || live[nt + vec + run] == live[nt + vec]);)
                    run++;
                struct part q = {line, all ? lines : 1, vec, run, from, count};
                TRY(in_parts(w, t, nt, pm, out, c, &q, parts));
            }
    return HD_OK;
}

/* ---- the layer ---- */

enum { TAPS_MAX = (1 << 24) / (128 * 255) }; /* sums stay below 2^24 */
enum { BEGIN = 20 }; /* cycles from the end of one operation of VX to the results, docs/hw.md */

/* PM words of an output tile: bias and scale, then the taps of each part. */
static int pm_words(const struct hd_layer *l) {
    struct hd_dw_part last = hd_layer_dw_part(l, hd_layer_dw_parts(l) - 1);
    return 1 + last.pm + (int)hd_ceil_div(last.kh * last.kw, HD_DW_TAPS_PER_WORD);
}

/* Windows of one column slide down, if a step down is a step of vx.dw. */
static bool slides_down(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *x = &lo->tensors[l->in[0]];
    int64_t pitch = 4 * (hd_max(x->w, l->ow) + 16) * x->cp / lo->m->n; /* with padding, at most */
    return l->kw == 1 && l->kh > 1 && (l->dy == 1 || l->sy == 1) && l->sy <= 3 &&
           l->sy * l->dy * pitch <= INT16_MAX;
}

/* needs: the words that it would be for MX. Windows of one part, or of parts that PM has room for,
 * whose sums binary32 holds and that take less time than the same as a grouped convolution on MX,
 * whose words for a tap are nearly all zeros. */
bool hd_takes_windows(const struct hd_lowering *lo, const struct hd_layer *product) {
    const struct hd_mtensor *x = &lo->tensors[product->in[0]];
    struct hd_layer of = *product, *l = &of;
    l->down = slides_down(lo, l);
    const struct hd_dw_side along = hd_dw_along(l);
    if (hd_packed_of(l)->up[0].k || l->groups != x->c || l->oc != x->c || x->c <= 1) return false;
    bool dilated = along.d > 1;
    if (along.s > 3 ||
        (dilated && (along.s > 1 || along.k == 1 || (int64_t)l->dx * x->cp / lo->m->n > INT16_MAX)))
        return false;
    int parts = hd_layer_dw_parts(l);
    if (parts == 1 && !dilated) return true;
    if (pm_words(l) > hd_eighths(hd_pm_words(lo->m), hd_knob(lo)->block) ||
        l->planes * l->kh * l->kw > TAPS_MAX)
        return false;
    int64_t words = (int64_t)l->nts * l->red / (l->ppw > 1 ? hd_layer_phases(l) : 1);
    int64_t loads = (int64_t)l->nts * l->red * hd_wm_word_bytes(lo->m) / hd_axi_bytes(lo->m);
    int64_t mx = hd_max((int64_t)x->n * l->oh * l->ow * words, loads);
    int64_t vx = (int64_t)x->n * l->nts * hd_dw_vectors(l, l->oh, l->ow);
    int lines = l->down ? l->ow : l->oh, pixels = l->down ? l->oh : l->ow;
    vx += BEGIN * hd_min(lines, l->nts) * hd_min(along.d, pixels) * parts;
    return vx < mx;
}

/* PM words of vx.dw per vector of channels: bias and scale, then 8 taps of all lanes a word. Of the
 * last word the image has what taps there are, in whole AXI words. */
void hd_pack_windows(struct hd_lowering *lo, struct hd_layer *l, const struct hd_weights *w,
                     struct hd_packed *own) {
    l->down = slides_down(lo, l);
    int n = (int)lo->m->n, parts = hd_layer_dw_parts(l);
    struct hd_dw_part last = hd_layer_dw_part(l, parts - 1);
    l->kind = &hd_kind_depthwise;
    l->a_imm = -l->pad_value;
    l->nts = (int)hd_ceil_div(l->oc, n);
    l->pm_words = pm_words(l);
    int absent = (HD_DW_TAPS_PER_WORD * (l->pm_words - 1 - last.pm) - last.kh * last.kw) * n;
    l->pm_cut = absent / (int)hd_axi_bytes(lo->m);
    size_t bytes = hd_layer_pm_bytes(l, lo->m);
    own->p_offset = hd_image_reserve(lo, (size_t)l->nts * bytes);
    bool *live = hd_new_array(lo->arena, bool, (size_t)l->nts);
    own->live = l->planes > 1 ? live : NULL;
    for (int c = 0; c < l->oc; c++) {
        uint8_t *p = lo->image + own->p_offset + (size_t)(c / n) * bytes;
        memcpy(p + c % n * 8, &w->bias[c], 4);
        memcpy(p + c % n * 8 + 4, &w->scale[w->n_scale == 1 ? 0 : c], 4);
        for (int i = 0; i < parts; i++) {
            struct hd_dw_part q = hd_layer_dw_part(l, i);
            uint8_t *to = p + (1 + q.pm) * HD_DW_TAPS_PER_WORD * n + c % n;
            for (int t = 0; t < q.kh * q.kw; t++) {
                int ky = q.row + t / q.kw, kx = q.col + t % q.kw * q.step;
                to[t * n] = (uint8_t)w->w[((q.plane * l->oc + c) * l->kh + ky) * l->kw + kx];
                live[c / n] = live[c / n] || (q.plane && to[t * n]);
            }
        }
    }
}

/* Taps of a depthwise layer live in PM, beside bias and scale. */
static void choose_chunks(const struct hd_lowering *lo, struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    int words = (int)hd_pm_words(lo->m);
    lt->weights_stay = l->nts * l->pm_words <= hd_eighths(words, hd_knob(lo)->stay);
    int nb = lt->weights_stay ? l->nts
                              : (int)hd_max(1, hd_eighths(words, hd_knob(lo)->block) / l->pm_words);
    if (lt->ask_nb) nb = (int)hd_min(lt->ask_nb, nb);
    lt->nb = (int)hd_ceil_div(l->nts, hd_ceil_div(l->nts, nb));
    lt->chunk_outer =
        !lt->roll_th && lt->nb < l->nts &&
        (lt->ask_order == HD_ORDER_ANY ? !lt->weights_stay : lt->ask_order == HD_ORDER_CHUNK_OUTER);
}

static int64_t most_pixels(const struct hd_lowering *lo, const struct hd_tiling *lt,
                           struct hd_refusal *out_why) {
    (void)lo, (void)lt, (void)out_why;
    return 65535;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return l->nts * hd_dw_pixel_vectors(l);
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    return (int64_t)lo->tensors[l->out].n * l->nts * hd_dw_vectors(l, l->oh, l->ow);
}

const struct hd_kind hd_kind_depthwise = {
    .name = "depthwise",
    .operations = "vx.dw",
    .expression = "sum over p, q of w[m,p,q] * x[i*sy + p*dy - pt, j*sx + q - pl, m]",
    .memories = "XM PM -> XM",
    .joins = true,
    .takes_parts = true,
    .slides = true,
    .weights = true,
    .chains = true,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .choose_chunks = choose_chunks,
    .most_pixels = most_pixels,
    .lower = hd_lower_matmul,
};
