/* Refinement: better tiles, weight chunks, loop orders and ring borders, one chain of layers after
 * the other.
 *
 * needs: a complete plan (plan.c)
 * gives: what layers ask of tiling (ask_tiles, ask_nb, ask_order, ring_in), and such tiles
 * destroys: the tiles chosen before
 *
 * Each candidate is lowered together with the chains before and after it, since what counts is what
 * overlaps, and judged by the estimate of its operations (cost/estimate.c). Coordinate descent:
 * tiles, chunks and order, tiles again, the border of the ring. No search over a whole network is
 * needed because a change is only felt nearby.
 */
#include <limits.h>
#include <string.h>

#include "compiler/layer/kind.h"
#include "compiler/search/search.h"
#include "runtime/base/num.h"

enum { CHANGES = 64 }; /* that are judged together */

struct asked {
    int tiles, nb;
    enum hd_order order;
    uint32_t ring_in, ring_vx;
};

static struct asked get(const struct hd_lowering *lo, const struct hd_window *w) {
    const struct hd_tiling *lt = &lo->plan->tilings[w->first];
    return (struct asked){lt->ask_tiles, lt->ask_nb, lt->ask_order, lt->ring_in, lt->ring_vx};
}

/* The chain is tiled as asked; false when it does not fit. */
static bool tile(struct hd_lowering *lo, const struct hd_window *w, const struct asked *q) {
    for (size_t i = w->first; i < w->end; i++) {
        struct hd_tiling *lt = &lo->plan->tilings[i];
        lt->ask_tiles = q->tiles, lt->ask_nb = q->nb, lt->ask_order = q->order;
        lt->ring_in = q->ring_in, lt->ring_vx = q->ring_vx;
        if (hd_choose_tiles(lo, lt).why) return false;
    }
    return true;
}

struct search {
    struct hd_lowering *lo;
    struct hd_window w;
    struct asked best;
    int64_t cycles;
};

/* Cycles of the window when the chain gets what is asked; INT64_MAX when it does not fit, or is no
 * better than s->cycles. */
static int64_t attempt(struct search *s, const struct asked *q) {
    if (!tile(s->lo, &s->w, q)) return INT64_MAX;
    return hd_estimate_layers(s->lo, s->w.from, s->w.to, s->cycles - 1);
}

/* true: it is the best so far. */
static bool consider(struct search *s, struct asked q) {
    if (hd_continue(s->lo->ctx) != HD_OK) return false;
    int64_t cycles = attempt(s, &q);
    if (cycles >= s->cycles) return false;
    s->best = q, s->cycles = cycles;
    return true;
}

/* Until so many different tiles in turn are no better. */
static void each_number_of_tiles(struct search *s, struct asked q, int patience) {
    int worse = 0;
    const struct hd_tiling *lt = &s->lo->plan->tilings[s->w.first];
    for (q.tiles = 1; q.tiles <= hd_knob(s->lo)->most_tiles && worse < patience;
         q.tiles += (q.tiles + 3) / 4) {
        const int th = lt->th, tw = lt->tw;
        bool better = consider(s, q), other = q.tiles == 1 || lt->th != th || lt->tw != tw;
        worse = better ? 0 : worse + other;
    }
}

static void search_tiles(struct search *s) {
    if (s->lo->plan->tilings[s->w.first].roll_th) return; /* rows are the chain's */
    each_number_of_tiles(s, s->best, INT_MAX);
}

/* Of a short layer, whose beginning and end count, every choice together with every number of
 * tiles. */
static void search_chunks(struct search *s) {
    const struct hd_layer *l = &s->lo->layers[s->w.first];
    const struct hd_tiling *lt = &s->lo->plan->tilings[s->w.first];
    bool jointly = s->cycles < hd_knob(s->lo)->jointly || l->kind->slides;
    bool matmul = l->kind->product;
    if (s->w.end - s->w.first > 1 || (!matmul && !l->kind->slides)) return;
    for (int order = HD_ORDER_ANY; order <= HD_ORDER_WAVE; order++) {
        bool stays = lt->weights_stay && s->lo->plan->places[l->in[0]].resident;
        if (order == HD_ORDER_WAVE ? !stays || !matmul
                                   : matmul && order != HD_ORDER_ANY && lt->weights_stay)
            continue;
        for (int chunks = 1; chunks <= l->nts && chunks <= hd_knob(s->lo)->most_chunks;
             chunks *= 2) {
            struct asked q = s->best;
            q.order = (enum hd_order)order;
            q.nb = (int)hd_ceil_div(l->nts, chunks);
            consider(s, q);
            if (jointly) each_number_of_tiles(s, q, hd_knob(s->lo)->patience);
        }
    }
}

/* A chain whose operands are read by MX and by VX: where the part of MX ends, of VX, of MX again.
 */
static void search_parts(struct search *s) {
    const struct hd_tiling *lt = &s->lo->plan->tilings[s->w.first];
    uint32_t bank = s->lo->m->xm_bytes / s->lo->m->xm_banks;
    for (int turn = 0; turn < 3 && lt->ring_vx; turn++) {
        struct asked q = s->best;
        uint32_t *border = turn == 1 ? &q.ring_vx : &q.ring_in,
                 end = turn == 1 ? q.ring_in : lt->ring_bytes;
        for (*border = turn == 1 ? bank : q.ring_vx + bank; *border < end; *border += bank)
            consider(s, q);
    }
}

static void search_ring(struct search *s) {
    const struct hd_layer *l = &s->lo->layers[s->w.first];
    bool depthwise = s->w.end - s->w.first == 1 && l->kind->slides,
         jointly = depthwise && s->cycles < hd_knob(s->lo)->jointly;
    uint32_t bank = s->lo->m->xm_bytes / s->lo->m->xm_banks, was = s->best.ring_in,
             ring = s->lo->plan->tilings[s->w.first].ring_bytes;
    if (was == 0 || was == ring) return; /* one operand streams */
    /* Halos: tiles want to be as high as their part allows, so it hardly shrinks. */
    uint32_t in = depthwise ? hd_max(bank, was / bank * (int64_t)bank - bank) : bank;
    for (; in < ring; in += bank) {
        struct asked q = s->best;
        q.ring_in = in;
        if (in == s->best.ring_in) continue;
        consider(s, q);
        for (int chunks = 1; jointly && chunks <= l->nts && chunks <= hd_knob(s->lo)->most_chunks;
             chunks += (chunks + 1) / 2) {
            q.nb = (int)hd_ceil_div(l->nts, chunks);
            q.order = chunks > 1 ? HD_ORDER_CHUNK_OUTER : HD_ORDER_ANY;
            each_number_of_tiles(s, q, hd_knob(s->lo)->patience);
        }
    }
}

/* As it was asked before, which fitted. */
static void tile_again(struct hd_lowering *lo, const struct hd_window *w, const struct asked *q) {
    bool tiled = tile(lo, w, q);
    HD_ASSERT(tiled);
}

/* Chains that ask for something else than before, of a step: all that was changed since the last
 * look at the whole. */
struct changes {
    struct change {
        struct hd_window w;
        struct asked before, now;
    } of[CHANGES];
    size_t n;
    size_t from, to; /* the step, */
    int64_t whole;   /* and what it takes without them */
};

/* What is better in its window may be worse further on: of n changes, none of them made yet, those
 * are made that leave the whole no slower. */
static void settle(struct hd_lowering *lo, struct changes *c, const struct change *of, size_t n) {
    for (size_t i = 0; i < n; i++) tile_again(lo, &of[i].w, &of[i].now);
    int64_t now = hd_estimate_step(lo, c->from, c->to, c->whole, lo->ordered);
    if (now <= c->whole) {
        c->whole = now;
        return;
    }
    for (size_t i = 0; i < n; i++) tile_again(lo, &of[i].w, &of[i].before);
    if (n == 1) return;
    settle(lo, c, of, n / 2);
    settle(lo, c, of + n / 2, n - n / 2);
}

static void settle_all(struct hd_lowering *lo, struct changes *c) {
    if (c->n && c->whole < hd_knob(lo)->whole_step) settle(lo, c, c->of, c->n);
    c->n = 0;
}

/* The more a step takes, the more operations it is, and the more changes it has: the time goes with
 * the square where each is judged alone. */
static size_t together(const struct hd_lowering *lo, int64_t whole) {
    return (size_t)hd_min(CHANGES, whole / hd_knob(lo)->settle);
}

/* What was chosen for windows, by their number. */
struct chosen {
    uint64_t key;
    struct asked best;
};

/* In a long program what stands around a chain counts little. */
static void search_window(struct search *s, bool is_long, struct chosen *seen, size_t *n_seen) {
    const struct hd_window *w = &s->w;
    uint64_t key =
        hd_window_key(s->lo, is_long ? w->first : w->from, w->first, is_long ? w->end : w->to);
    for (size_t i = 0; i < *n_seen; i++)
        if (seen[i].key == key) {
            consider(s, seen[i].best);
            return;
        }
    search_tiles(s);
    search_chunks(s);
    search_tiles(s);
    search_parts(s);
    search_ring(s);
    search_tiles(s);
    seen[(*n_seen)++] = (struct chosen){key, s->best};
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_refine_tiles(struct hd_lowering *lo) {
    struct changes c = {0};
    struct chosen *seen = hd_new_array(lo->arena, struct chosen, lo->n_layers + 1);
    size_t n_seen = 0;
    const int64_t most = hd_max(hd_knob(lo)->whole_step, hd_knob(lo)->refine_one);
    for (size_t i = 0; i < lo->n_layers; i = (size_t)lo->plan->tilings[i].chain_last + 1) {
        struct search s = {.lo = lo, .cycles = INT64_MAX};
        TRY(hd_continue(lo->ctx));
        s.w = hd_chain_window(lo, i);
        if (i >= c.to) {
            settle_all(lo, &c);
            c.from = i, c.to = hd_step_end(lo, i);
            c.whole = hd_estimate_step(lo, c.from, c.to, most, lo->ordered);
        }
        const struct asked before = s.best = get(lo, &s.w);
        s.cycles = attempt(&s, &s.best);
        search_window(&s, c.whole >= hd_knob(lo)->refine_one, seen, &n_seen);
        tile_again(lo, &s.w, &s.best);
        if (memcmp(&before, &s.best, sizeof before))
            c.of[c.n++] = (struct change){s.w, before, s.best};
        if (c.n >= together(lo, c.whole)) settle_all(lo, &c);
        hd_clear(lo->ctx);
    }
    settle_all(lo, &c);
    return HD_OK;
}
