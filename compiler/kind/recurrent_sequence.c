/* Recurrent layers, step by step (kind/recurrent.c says what is where; docs/compiler.md why).
 *
 * AM holds, in vectors of N results, [gate][vector][row]: sums of h, the state, one more, and for
 * each of `ahead` steps the products of x, which become binary32 as soon as they are there. Gates
 * take the place of their sums. A row of y is where the next step reads h; before the first step it
 * holds the initial state.
 */
#include "compiler/kind/recurrent.h"

#include <string.h>

/* ---- states ---- */

static hd_status zero_state(struct hd_cell *c) {
    return hd_cell_map(c, (struct hd_cell_map){.a_kind = HD_V_vx_kind_zero, .d = c->state});
}

/* The binary32 state of each side between DRAM, [row][vector], and AM, [vector][row]. */
static hd_status move_state(struct hd_cell *c, bool store, int seg, int64_t at) {
    int sides = c->r->sides;
    int64_t word = 4 * (int64_t)c->w->m->n, n = c->q / sides, row = word * c->r->vectors / sides;
    for (int side = 0; side < sides; side++)
        TRY(hd_cell_move(
            c, (struct hd_cell_move){.store = store,
                                     .mem = HD_V_chip_am,
                                     .seg = seg,
                                     .dram = at + ((c->d + side) * c->r->batch + c->b0) * row,
                                     .chip = (c->state + side * n) * word,
                                     .run = word,
                                     .n = {n / c->rows, c->rows},
                                     .dram_step = {word, row},
                                     .chip_step = {c->rows * word, word}}));
    return HD_OK;
}

static hd_status begin_state(struct hd_cell *c) {
    const struct hd_layer *l = c->w->l;
    if (c->r->gates == 1) return HD_OK;
    bool read = c->r->in_state >= 0;
    if (!read && c->r->state_offset < 0) return zero_state(c);
    return move_state(c, false, read,
                      read ? (int64_t)hd_lower_place(c->w, l->in[c->r->in_state])->arena
                           : c->r->state_offset);
}

/* Rows of bytes, cp apart. */
static hd_status load_h(struct hd_cell *c, int side, int seg, int64_t src, int cp) {
    return hd_cell_move(
        c, (struct hd_cell_move){.seg = seg,
                                 .dram = src + ((c->d + side) * c->r->batch + c->b0) * cp,
                                 .chip = c->now[side].at,
                                 .run = c->y->bytes,
                                 .n = {c->rows, 1},
                                 .dram_step = {cp},
                                 .chip_step = {c->now[side].pitch}});
}

/* What the first step reads: in the row that it is about to write, or where it lies in XM. */
static hd_status begin_side(struct hd_cell *c, int side) {
    struct hd_lowerer *w = c->w;
    int in = c->r->in_h;
    const struct hd_cell_rows *now = &c->now[side];
    if (in < 0 && c->r->h_offset >= 0) return load_h(c, side, 0, c->r->h_offset, c->y->bytes);
    if (in < 0)
        return hd_lower_fill(w, w->l->y.zp, (uint32_t)now->at, c->y->bytes, c->rows, now->pitch);
    const struct hd_mtensor *h = hd_lower_tensor(w, w->l->in[in]);
    const struct hd_placement *hp = hd_lower_place(w, w->l->in[in]);
    if (!hp->resident) return load_h(c, side, 1, (int64_t)hp->arena, h->cp);
    struct hd_view v;
    TRY(hd_lower_input(w, in, 0, (c->d + side) * c->r->batch + c->b0, 0, c->rows, 1, &v));
    c->before[side] = (struct hd_cell_rows){.at = v.at, .pitch = v.pitch, .n = 1};
    return HD_OK;
}

static hd_status begin_h(struct hd_cell *c) {
    memcpy(c->before, c->now, sizeof c->before);
    if (c->r->gates == 3) return hd_cell_to_y(c, c->state);
    for (int side = 0; side < c->r->sides; side++) TRY(begin_side(c, side));
    return HD_OK;
}

/* ---- rows of y ---- */

static int y_row(const struct hd_cell *c, int side, int t) {
    return (t * c->r->directions + c->d + side) * c->r->batch + c->b0;
}

/* Steps of the group of out_steps that i lies in. */
static int group_steps(const struct hd_cell *c, int i) {
    int first = i - i % c->rt->out_steps;
    return (int)hd_min(c->rt->out_steps, c->r->steps - first);
}

static void begin_row(struct hd_cell *c, int i, int64_t *group) {
    int at = i % c->rt->out_steps, n = group_steps(c, i);
    int64_t step = (int64_t)c->rows * c->y->bytes;
    memcpy(c->before, c->now, sizeof c->before);
    if (!c->yp->resident && at == 0)
        *group = hd_ring_take(c->w, &c->w->xm_out, c->r->sides * n * step);
    for (int side = 0; side < c->r->sides; side++) {
        int row = y_row(c, side, hd_cell_step_of(c, side, i));
        int slot = side * n + (hd_cell_backwards(c, side) ? n - 1 - at : at);
        struct hd_view v = {.at = *group + slot * step, .pitch = c->y->bytes};
        if (c->yp->resident) v = hd_lower_resident(c->yp, 0, row, 0, c->rows, 1);
        c->now[side] = (struct hd_cell_rows){.at = v.at, .pitch = v.pitch, .n = 1};
    }
}

/* Behind the last step of a group: its rows go to DRAM, the first of them at the lowest address. */
static hd_status store_rows(struct hd_cell *c, int side, int i) {
    const struct hd_mtensor *y = c->y;
    const struct hd_placement *yp = c->yp;
    int n = group_steps(c, i);
    if (!yp->in_arena || i % c->rt->out_steps != n - 1) return HD_OK;
    bool backwards = hd_cell_backwards(c, side);
    int low = backwards ? hd_cell_step_of(c, side, i) : i - n + 1;
    int64_t between = (int64_t)c->r->directions * c->r->batch, run = (int64_t)c->rows * y->bytes;
    struct hd_cell_rows v = c->now[side];
    v.step = yp->resident ? between * v.pitch : run;
    if (!backwards) v.at -= (n - 1) * v.step;
    return hd_cell_move(
        c, (struct hd_cell_move){.store = true,
                                 .seg = HD_V_seg_arena,
                                 .dram = (int64_t)yp->arena + (int64_t)y_row(c, side, low) * y->cp,
                                 .chip = v.at,
                                 .run = y->bytes,
                                 .n = {c->rows, n},
                                 .dram_step = {y->cp, between * y->cp},
                                 .chip_step = {v.pitch, v.step}});
}

/* ---- the layer ---- */

static void place_sums(struct hd_cell *c) {
    int64_t half = hd_am_words(c->w->m) / 2;
    c->q = (int64_t)c->r->vectors * c->rows;
    c->sums = 0;
    c->state = c->rt->apart ? half : c->r->gates * c->q;
    c->tmp = c->state + c->q;
    c->wx = c->tmp + c->q;
}

static hd_status sequence(struct hd_cell *c) {
    int ahead = c->rt->ahead, steps = c->r->steps;
    int64_t group = 0;
    place_sums(c);
    for (int i = 0; i < steps; i++) {
        bool first = i == 0, block = c->rt->w_stay && ahead > 1 ? first : i % ahead == 0;
        begin_row(c, i, &group);
        if (block) TRY(hd_cell_block_of_x(c, i, (int)hd_min(ahead, steps - i)));
        if (first) {
            TRY(begin_state(c));
            TRY(begin_h(c));
        }
        TRY(hd_cell_step(c, i));
        if (hd_cell_fills(c, i)) TRY(hd_cell_scale_of_filler(c, i + ahead - 1));
        for (int side = 0; side < c->r->sides; side++) TRY(store_rows(c, side, i));
    }
    if (c->w->l->state < 0) return HD_OK;
    return move_state(c, true, HD_V_seg_arena,
                      (int64_t)hd_lower_place(c->w, c->w->l->state)->arena);
}

hd_status hd_recurrent_lower(struct hd_lowerer *w) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    const struct hd_recurrent *r = l->own;
    const struct hd_recurrent_tiling *rt = &lt->rnn;
    if (rt->rows < 1 || rt->ahead < 1 || rt->out_steps < 1 || rt->r_stay > r->gates * r->vectors)
        return hd_fail(
            w->lo->ctx, HD_INVALID,
            "layer %d: got rnn.rows=%d rnn.ahead=%d rnn.out_steps=%d rnn.r_stay=%d, want 1 "
            "or more of the first three and at most %d of the last",
            l->tag, rt->rows, rt->ahead, rt->out_steps, rt->r_stay, r->gates * r->vectors);
    struct hd_cell c = {.w = w,
                        .r = r,
                        .rt = rt,
                        .x = hd_lower_tensor(w, l->in[0]),
                        .y = hd_lower_tensor(w, l->out)};
    c.xp = hd_lower_place(w, l->in[0]), c.yp = hd_lower_place(w, l->out);
    int64_t nts = hd_cell_tiles(&c), stay_w = rt->w_stay ? nts * r->cwx : 0;
    int64_t stay_r = (int64_t)rt->r_stay * r->cwh;
    bool all = rt->w_stay && rt->r_stay == nts;
    for (c.d = 0; c.d < r->directions; c.d += r->sides) {
        int64_t ring = all ? 0 : rt->wm_ring;
        c.wm[OF_X] = hd_ring_take(w, &w->wm, stay_w + stay_r + ring);
        c.wm[OF_H] = c.wm[OF_X] + stay_w;
        c.wm_ring =
            (struct hd_ring){.first = c.wm[OF_H] + stay_r, .size = ring, .space = HD_SPACE_WM};
        if (rt->pm_stay) c.pm = hd_ring_take(w, &w->pm, 2 * nts);
        for (int p = 0; p < PARTS; p++) c.loaded[p] = 0, c.pm_loaded[p] = false;
        for (c.b0 = 0; c.b0 < r->batch; c.b0 += rt->rows) {
            c.rows = (int)hd_min(rt->rows, r->batch - c.b0);
            TRY(sequence(&c));
        }
    }
    return HD_OK;
}
