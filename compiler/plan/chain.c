/* Chains: neighbouring layers whose tiles are issued in turn, so that MX and VX work at the same
 * time.
 *
 * needs: layers in order, their weight chunks
 * gives: chain_first, chain_last of layers; roll_th of them and roll, mirror of tensors that roll
 * destroys: earlier chains
 *
 * A matrix layer next to a depthwise one (expand, depthwise, project) leaves one of the two units
 * idle if they run one after the other, since a queue holds few operations. In a chain each tile of
 * the last layer is preceded by just the tiles of the earlier ones that it needs. All layers of a
 * chain keep their weights on chip together, and their tensors live for the whole chain
 * (search/search.c). Two neighbours for different units that do not read each other are a chain,
 * too. In a rolling chain the tensors between the layers never exist as a whole: a few rows of each
 * stay on chip, in slots that are used in turn, and nothing of them goes to DRAM. In a deep chain
 * products read what products make, too, and a sum may read what the chain made some layers before
 * (docs/decisions/144-deep-chains.md).
 */
#include "compiler/layer/kind.h"
#include "compiler/plan/plan.h"
#include "runtime/base/num.h"

static bool chains_well(const struct hd_tiling *lt) {
    const struct hd_layer *l = lt->l;
    if (!l->kind->chains) return false;
    return !l->kind->weights || (lt->weights_stay && l->uy * l->ux == 1);
}

/* Which operand of l lies in the storage of a tensor that is no part; -1: none. */
static int operand_of(const struct hd_lowering *lo, const struct hd_layer *l, int tensor) {
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0; i++)
        if (l->in[i] == tensor || lo->tensors[l->in[i]].base == tensor) return i;
    return -1;
}

static int whole(const struct hd_lowering *lo, int tensor) {
    int base = lo->tensors[tensor].base;
    return base < 0 ? tensor : base;
}

/* Tensor t, which a layer of the chain from `first` makes, is read once more behind its next layer:
 * by l, pixel by pixel. */
static bool kept_for(const struct hd_lowering *lo, const struct hd_layer *first,
                     const struct hd_layer *l, const struct hd_mtensor *t) {
    return t->base < 0 && t->def >= first->tag && t->made == t->def && t->last == l->tag &&
           t->h == l->oh && t->w == l->ow && lo->layers[t->def].step == l->step;
}

/* The end of two branches, of which operand i comes from the chain of layer `first`: it is read
 * row by row, and the other one is there before that chain begins, or kept by it. */
static bool meets(const struct hd_lowering *lo, const struct hd_layer *first,
                  const struct hd_layer *l, int i, bool deep) {
    const struct hd_mtensor *other = &lo->tensors[whole(lo, l->in[!i])];
    return lo->tensors[l->in[i]].h == l->oh &&
           (other->made < first->tag || (deep && kept_for(lo, first, l, other))) &&
           !(l->kind->overlaps && l->kind->overlaps(l));
}

/* Layer i goes on with attention, which a product of activations begins: rows of scores, what VX
 * makes of them, and their product with values, which ends it. Rows of all batches lie one behind
 * the other, and other operands are there before. */
static bool attends(const struct hd_lowering *lo, const struct hd_layer *first, size_t i) {
    const struct hd_layer *a = &lo->layers[i - 1], *b = a + 1;
    const struct hd_mtensor *t = &lo->tensors[a->out];
    int o = operand_of(lo, b, a->out), other = b->in[o == 0];
    bool ends = b->kind->rows != NULL;
    bool vx = b->kind->only_vx || (b->kind->chains && !b->kind->weights && b->kh * b->kw == 1);
    if ((a != first && a->kind->rows) || o < 0 || b->in[o] != a->out) return false;
    if (first->kind->rows(first, true) != t->h ||
        (other >= 0 && lo->tensors[whole(lo, other)].made >= first->tag))
        return false;
    return a->step == b->step && !lo->plan->tilings[i].alone &&
           (ends ? o == 0 && b->kind->rows(b, false) == t->h : vx && b->oh == t->h);
}

/* Layer i goes on with the chain [first, i): it reads rows of what the one before makes. Where
 * branches meet a chain ends, unless it is deep. Rows of tokens that a product makes for a product
 * do not roll, and tiles in turn gain nothing there. */
static bool follows(const struct hd_lowering *lo, size_t first, size_t i, bool deep) {
    if (i >= lo->n_layers) return false;
    if (lo->layers[first].kind->rows) return deep && attends(lo, &lo->layers[first], i);
    const struct hd_tiling *bt = &lo->plan->tilings[i], *at = bt - 1;
    const struct hd_layer *a = at->l, *b = bt->l;
    int id = whole(lo, a->out), o = operand_of(lo, b, id);
    const struct hd_mtensor *between = &lo->tensors[id];
    return a->step == b->step && chains_well(at) && chains_well(bt) &&
           (a->kind != b->kind || (deep && a->kind->product && !between->rows)) &&
           (deep || a->in[1] < 0) && o >= 0 && b->in[o] == id && between->made == a->tag &&
           lo->tensors[a->out].h == between->h && between->n == lo->tensors[b->out].n &&
           between->n == lo->tensors[a->out].n && between->h > 1 && !bt->alone &&
           (b->in[1] < 0 || meets(lo, &lo->layers[first], b, o, deep));
}

static int64_t wm_words(const struct hd_layer *l) {
    if (l->kind->rows) return 2 * (int64_t)l->nts * (l->cw + 2); /* this batch's, the next one's */
    return l->kind->product ? (int64_t)l->nts * l->red : 0;
}

/* Weights, parameters and tables of layers [first, last] fit on chip side by side. */
static bool fit_together(const struct hd_lowering *lo, size_t first, size_t last) {
    int64_t wm = 0, pm = 0, tables = 0;
    for (size_t i = first; i <= last; i++) {
        tables += lo->layers[i].y.table;
        wm += wm_words(&lo->layers[i]);
        pm += (int64_t)lo->layers[i].nts * lo->layers[i].pm_words;
    }
    return wm <= hd_eighths(hd_wm_words(lo->m), hd_knob(lo)->chain_stay) &&
           pm <= hd_eighths(hd_pm_words(lo->m), hd_knob(lo)->chain_stay) && tables <= HD_TM_TABLES;
}

/* Neighbours for two units, of which the second reads nothing of the first: a softmax, which is
 * VX's alone, and the projection of the values behind it. */
static bool beside(const struct hd_lowering *lo, size_t i) {
    if (i + 1 >= lo->n_layers) return false;
    const struct hd_layer *a = &lo->layers[i], *b = a + 1, *mx = a->kind->product ? a : b;
    return a->step == b->step && (a->kind->only_vx || b->kind->only_vx) && mx->kind->product &&
           !lo->plan->tilings[i + 1].alone && chains_well(&lo->plan->tilings[mx->tag]) &&
           operand_of(lo, b, whole(lo, a->out)) < 0;
}

static int64_t row_cycles(const struct hd_layer *l) {
    return l->ow * (l->kind->only_vx ? l->nts : l->kind->pixel_cycles(l)); /* of one pass */
}

/* Nothing but b and the last reader, which takes two operands, reads t. */
static bool read_twice(const struct hd_lowering *lo, const struct hd_mtensor *t,
                       const struct hd_layer *b) {
    int id = (int)(t - lo->tensors);
    for (int i = b->tag + 1; i < t->last; i++)
        if (operand_of(lo, &lo->layers[i], id) >= 0) return false;
    return lo->layers[t->last].in[1] >= 0;
}

/* A tensor between two layers of a chain, which `last` ends, of which only a few rows need to be
 * there at a time. Only products write rows twice, for windows of VX. */
static bool can_roll(const struct hd_lowering *lo, const struct hd_layer *a,
                     const struct hd_layer *b, const struct hd_layer *last, bool deep) {
    const struct hd_mtensor *t = &lo->tensors[a->out];
    bool attention =
        deep && (a->kind->rows || b->kind->rows || a->kind->only_vx || b->kind->only_vx);
    bool one_row = b->kh == 1 && b->sy == 1 && b->pt == 0;
    bool reads = b->kind->product ? deep || one_row : a->kind->product || (deep && one_row);
    bool readers = t->last == b->tag;
    if (deep && t->last > b->tag && t->last <= last->tag)
        readers = read_twice(lo, t, b) && kept_for(lo, a, &lo->layers[t->last], t);
    return t->base < 0 && !t->has_parts && (!t->rows || attention) && t->def == a->tag && readers &&
           reads && !t->read_from_dram && !t->goes_out && !t->comes_in && t->pads_agree &&
           b->ppw == 1 && operand_of(lo, b, a->out) >= 0;
}

/* Rows per tile, so that operations are not short; halved so many times. false: none are left. */
static bool choose_rows(struct hd_lowering *lo, size_t first, size_t last, int halvings) {
    int64_t shortest = INT64_MAX;
    for (size_t i = first; i <= last; i++) shortest = hd_min(shortest, row_cycles(&lo->layers[i]));
    int th = 1;
    while (th * shortest < hd_knob(lo)->chain_tile && 4 * th < lo->layers[last].oh) th *= 2;
    if (lo->layers[first].kind->rows) th = (int)hd_min(th, lo->layers[first].oh); /* a batch's */
    th >>= halvings;
    if (!th) return false;
    for (size_t i = last + 1; i-- > first;) {
        const struct hd_layer *l = &lo->layers[i];
        struct hd_tiling *lt = &lo->plan->tilings[i];
        lt->chain_th = th;
        th *= l->sy; /* of the layer before */
    }
    return true;
}

/* VX has about as much to do in a chain as MX, or more. */
static bool vector_bound(const struct hd_lowering *lo, size_t first, size_t last) {
    int64_t mx = 0, vx = 0;
    for (size_t i = first; i <= last; i++) {
        const struct hd_layer *l = &lo->layers[i];
        bool product = l->kind->product;
        *(product ? &mx : &vx) += l->oh * row_cycles(l);
        if (product) vx += (int64_t)l->oh * l->ow * l->nts; /* its results become bytes */
    }
    return vx > hd_eighths(mx, hd_knob(lo)->vector_bound);
}

/* Bytes from even columns of a tensor to odd ones for b, whose windows then read two a
 * cycle: an operation meets columns that are next to each other at most, so a bank and a pixel
 * between the two are enough. 0: that is too far. */
static int columns_apart(const struct hd_lowering *lo, struct hd_placement *tp) {
    const struct hd_mtensor *t = tp->t;
    int64_t bank = lo->m->xm_bytes / lo->m->xm_banks;
    tp->apart = 1; /* rows are as long as each part needs */
    int64_t part = hd_mtensor_rows(tp) * hd_mtensor_pitch(tp);
    int64_t apart = hd_round_up(hd_max(part, bank + t->cp), HD_XM_ALIGN);
    return apart / lo->m->n <= INT16_MAX ? (int)apart : 0;
}

/* Rows that layer i of a rolling chain has made when layer k works on its first tile: those of its
 * window, and between each two layers a tile ahead. */
static int64_t rows_ahead(const struct hd_lowering *lo, size_t i, size_t k) {
    int64_t rows = lo->plan->tilings[k].chain_th;
    for (; k > i; k--) {
        const struct hd_layer *l = &lo->layers[k];
        int64_t th = lo->plan->tilings[k - 1].chain_th;
        rows = hd_round_up((rows - 1) * l->sy + (l->kh - 1) * l->dy + 1 - l->pt + th, th);
    }
    return rows;
}

/* Slots for what is read, written and one tile ahead. */
static void roll_chain(struct hd_lowering *lo, size_t first, size_t last, bool deep) {
    for (size_t i = first; i <= last; i++)
        lo->plan->tilings[i].roll_th = lo->plan->tilings[i].chain_th;
    for (size_t i = first; i < last; i++) {
        const struct hd_layer *a = &lo->layers[i], *b = &lo->layers[i + 1];
        const struct hd_tiling *at = &lo->plan->tilings[i];
        struct hd_mtensor *t = &lo->tensors[a->out];
        struct hd_placement *tp = &lo->plan->places[a->out];
        if (!can_roll(lo, a, b, &lo->layers[last], deep)) continue;
        int slots = (int)hd_round_up(rows_ahead(lo, i, i + 1) + b->pt, at->roll_th);
        if (t->last > b->tag) slots = (int)hd_max(slots, rows_ahead(lo, i, (size_t)t->last));
        if (b->kh > 1) slots += lo->plan->tilings[first].more_slots * at->roll_th;
        if (slots >= t->h) continue; /* all of it is there anyway */
        tp->roll = slots;
        tp->mirror = b->kind->product ? 0 : (b->kh - 1) * b->dy;
        tp->slot_of_0 = 0;
        /* windows that all begin in slots that sy divides need fewer rows behind the last slot; a
         * tile may end there, too */
        int mirror = (int)hd_max(tp->mirror + 1 - b->sy, 0);
        if (t->last > b->tag) continue;
        if (tp->mirror && slots % b->sy == 0 && b->pt <= mirror)
            tp->mirror = mirror, tp->slot_of_0 = b->pt;
        if (hd_layer_by_pairs(b) && vector_bound(lo, first, last))
            tp->apart = columns_apart(lo, tp);
    }
}

/* Bytes of the tensors between the layers of a rolling chain. */
static int64_t bytes_between(const struct hd_lowering *lo, size_t first, size_t last) {
    int64_t bytes = 0;
    for (size_t i = first; i < last; i++)
        bytes += hd_mtensor_xm_bytes(&lo->plan->places[lo->layers[i].out]);
    return bytes;
}

static void stop(struct hd_lowering *lo, size_t first, size_t last) {
    for (size_t i = first; i <= last; i++) {
        struct hd_placement *tp = &lo->plan->places[lo->layers[i].out];
        tp->roll = tp->mirror = tp->slot_of_0 = tp->apart = 0;
        lo->plan->tilings[i].roll_th = lo->plan->tilings[i].chain_th = 0;
    }
}

static int64_t ring_of(const struct hd_lowering *lo, const struct hd_tiling *first,
                       const struct hd_tiling *last, int64_t unit) {
    struct hd_ring_parts p = hd_rolling_ring(lo, first, last, unit);
    return p.in + p.out;
}

/* The longest deep chain from layer `first` on for which XM has room; what VX makes of a product
 * stays with it. Each time that it found none after all, the next shorter one. Returns its last
 * layer. */
static size_t roll_deep(struct hd_lowering *lo, size_t first) {
    struct hd_tiling *lt = &lo->plan->tilings[first];
    const struct hd_layer *l = lo->layers;
    const int64_t room = lo->m->xm_bytes, bank = room / lo->m->xm_banks;
    size_t last = first;
    for (int64_t bytes = 0; follows(lo, first, last + 1, true) && fit_together(lo, first, last + 1);
         last++) {
        const struct hd_mtensor *t = &lo->tensors[l[last].out];
        bytes += ((l[last + 1].kh - 1) * l[last + 1].dy + 2) * (int64_t)t->w * t->cp; /* at least */
        if (bytes > room) break;
    }
    for (int tries = lt->no_room / 2; last > first; last--) {
        bool vx = follows(lo, first, last + 1, true) && !l[last + 1].kind->product;
        if (l[last].kind->product && vx) continue;
        for (int finer = lt->finer; choose_rows(lo, first, last, finer); finer++) {
            roll_chain(lo, first, last, true);
            const struct hd_tiling *end = &lo->plan->tilings[last];
            int64_t bytes = bytes_between(lo, first, last);
            bool apart = bytes + ring_of(lo, lt, end, bank) <= room;
            if (bytes + ring_of(lo, lt, end, HD_XM_ALIGN) <= room && tries-- == 0) {
                if (!apart && lt->no_room % 2 == 0) lt->no_room++; /* in banks of its own */
                return last;
            }
            stop(lo, first, last);
        }
    }
    return first;
}

/* It would be a rolling chain without going deep, too. */
static bool rolls_anyway(const struct hd_lowering *lo, size_t first, size_t last) {
    const struct hd_layer *l = lo->layers;
    for (size_t i = first; i < last; i++)
        if (!follows(lo, first, i + 1, false) || !can_roll(lo, &l[i], &l[i + 1], &l[last], false))
            return false;
    return true;
}

/* needs / gives / destroys: see the head of this file. */
void hd_choose_chains(struct hd_lowering *lo, enum hd_chains kind) {
    struct hd_tiling *lt = lo->plan->tilings;
    bool enabled = kind != HD_CHAINS_NONE, rolls = kind >= HD_CHAINS_ROLLING;
    bool deep = kind == HD_CHAINS_DEEP;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_placement *tp = &lo->plan->places[i];
        tp->roll = tp->mirror = tp->slot_of_0 = tp->apart = 0;
    }
    for (size_t i = 0; i < lo->n_layers; i++)
        lt[i].roll_th = lt[i].chain_th = 0, hd_choose_chunks(lo, &lt[i]);
    for (size_t i = 0, last; i < lo->n_layers; i = last + 1) {
        last = deep ? roll_deep(lo, i) : i;
        while (enabled && !deep && follows(lo, i, last + 1, deep) && fit_together(lo, i, last + 1))
            last++;
        bool in_turn = enabled && last == i && beside(lo, i) && !follows(lo, i + 1, i + 2, deep);
        if (in_turn) last++;
        for (size_t k = i; k <= last; k++)
            lt[k].chain_first = (int)i, lt[k].chain_last = (int)last, lt[k].beside = in_turn;
        bool any = deep && !rolls_anyway(lo, i, last);
        for (size_t k = i; k <= last; k++) lt[k].deep = any;
        if (last == i || in_turn || deep) continue;
        if (rolls && choose_rows(lo, i, last, lt[i].finer + lt[i].no_room / 2))
            roll_chain(lo, i, last, deep);
        else
            choose_rows(lo, i, last, 0);
    }
}
