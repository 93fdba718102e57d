/* Where tensors lie, in XM and in the arena.
 *
 * needs: what stays on chip if it has room (chain.c), rings (rings.c)
 * gives: resident / xm, in_arena / arena of every tensor
 * destroys: nothing
 *
 * Residents are placed by liveness, those of deep chains and the largest first, at the lowest free
 * address; so is the arena, except that what crosses the border of a step keeps its own place.
 */
#include "compiler/layer/kind.h"
#include "compiler/plan/plan.h"

#include "runtime/base/num.h"

/* Lowest address below `limit`, a multiple of `align`, at which none of the pieces of `align` bytes
 * that it takes is used by another span overlapping [from, to]; -1 = none. */
static int64_t first_fit(struct hd_room *spans, size_t n, const struct hd_room *want, int64_t limit,
                         int64_t align) {
    int64_t at = 0, bytes = hd_round_up(want->bytes, align);
    struct hd_room *beside = &spans[n]; /* at the same time, which are few */
    size_t m = 0;
    for (const struct hd_room *s = spans; s < beside; s++)
        if (s != want && s->to >= want->from && s->from <= want->to) beside[m++] = *s;
    for (bool moved = true; moved;) {
        moved = false;
        for (const struct hd_room *s = beside; s < &beside[m] && at + want->bytes <= limit; s++) {
            if (s->at >= at + bytes || s->at + s->bytes <= at) continue;
            at = hd_round_up(s->at + s->bytes, align);
            moved = true;
        }
    }
    return at + want->bytes <= limit ? at : -1;
}

int hd_mtensor_pitch(const struct hd_placement *tp) {
    const struct hd_mtensor *t = tp->t;
    int columns = t->w + t->pl + t->pr, bytes = (tp->apart ? (columns + 1) / 2 : columns) * t->cp;
    return tp->roll ? (int)hd_round_up(bytes, HD_XM_ALIGN) : bytes;
}

int hd_mtensor_slot(const struct hd_placement *tp, int y) {
    return ((y + tp->slot_of_0) % tp->roll + tp->roll) % tp->roll;
}

int64_t hd_mtensor_rows(const struct hd_placement *tp) {
    const struct hd_mtensor *t = tp->t;
    return tp->roll ? tp->roll + tp->mirror : (int64_t)t->n * (t->h + t->pt + t->pb);
}

int64_t hd_mtensor_xm_bytes(const struct hd_placement *tp) {
    return tp->apart + hd_round_up(hd_mtensor_rows(tp) * hd_mtensor_pitch(tp), HD_XM_ALIGN);
}

int64_t hd_mtensor_dram_bytes(const struct hd_mtensor *t) {
    int64_t bytes = (int64_t)t->n * t->h * t->w * t->cp;
    bytes += (int64_t)t->overrun * t->cp;
    return hd_round_up(bytes + (t->has_parts ? t->cp : 0),
                       HD_XM_ALIGN); /* rows of parts reach over */
}

/* Layers between which a tensor must keep its place: from its first to its last use, whole chains.
 */
int hd_first_use(const struct hd_lowering *lo, const struct hd_mtensor *t) {
    int first = t->def >= 0 ? t->def : lo->plan->places[t - lo->tensors].first_read;
    return first < 0 ? 0 : lo->plan->tilings[first].chain_first;
}

int hd_last_use(const struct hd_lowering *lo, const struct hd_mtensor *t) {
    int last = t->last > t->def ? t->last : t->def;
    return last < 0 ? last : lo->plan->tilings[last].chain_last;
}

bool hd_is_kept(const struct hd_lowering *lo, const struct hd_mtensor *t) {
    return lo->opt->keep_all ||
           (t->def >= 0 &&
            hd_name_listed(&lo->opt->keep, lo->g->nodes[lo->layers[t->def].node].name));
}

/* Of a deep chain, which counts on room for it. */
static bool comes_first(const struct hd_lowering *lo, size_t i) {
    return lo->plan->places[i].roll && lo->plan->tilings[lo->tensors[i].def].deep;
}

/* Tensor ids, largest in XM first, but those of deep chains before all. */
int *hd_by_size(struct hd_lowering *lo) {
    int *ids = hd_new_array(lo->arena, int, lo->n_tensors + 1);
    int64_t *bytes = hd_new_array(lo->arena, int64_t, lo->n_tensors + 1);
    for (size_t i = 0; i < lo->n_tensors; i++) {
        size_t k = i;
        bytes[i] = hd_mtensor_xm_bytes(&lo->plan->places[i]);
        if (comes_first(lo, i)) bytes[i] += lo->m->xm_bytes;
        for (; k > 0 && bytes[ids[k - 1]] < bytes[i]; k--) ids[k] = ids[k - 1];
        ids[k] = (int)i;
    }
    return ids;
}

int64_t hd_below_rings(const struct hd_lowering *lo, int from, int to) {
    uint32_t ring = 0;
    for (int i = from < 0 ? 0 : from; i <= to; i++)
        ring = (uint32_t)hd_max(ring, lo->plan->tilings[i].ring_bytes);
    return (int64_t)lo->m->xm_bytes - ring;
}

static bool is_stored(const struct hd_mtensor *t) {
    return t->goes_out || t->kept || t->read_from_dram;
}

/* Residents, first those that are stored, get banks of their own where there is room left: where
 * two units meet in a bank, one of them waits. */
static void spread(struct hd_lowering *lo, const int *ids, struct hd_room *spans, size_t n,
                   bool stored) {
    int64_t bank = lo->m->xm_bytes / lo->m->xm_banks;
    for (size_t i = 0, k = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[ids[i]];
        struct hd_placement *tp = &lo->plan->places[ids[i]];
        if (t->base >= 0 || !tp->resident) continue;
        struct hd_room *s = &spans[k++];
        if (is_stored(t) != stored) continue;
        int64_t at = first_fit(spans, n, s, hd_below_rings(lo, s->from, s->to), bank);
        if (at < 0) continue;
        s->at = at;
        tp->xm = (uint32_t)at;
    }
}

void hd_share_places(struct hd_lowering *lo) {
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_mtensor *t = &lo->tensors[i];
        struct hd_placement *tp = &lo->plan->places[i];
        int before = hd_state_before(lo, (int)i);
        if (before >= 0) tp->arena = lo->plan->places[before].arena;
        if (t->base < 0) continue;
        const struct hd_mtensor *r = &lo->tensors[t->base];
        const struct hd_placement *rp = &lo->plan->places[t->base];
        int64_t row = (int64_t)r->w * r->cp;
        tp->resident = rp->resident, tp->in_arena = rp->in_arena;
        int above = t->at_row + t->at_img * (r->h + r->pt + r->pb);
        tp->xm = rp->resident ? rp->xm + (uint32_t)(t->at_c + above * hd_mtensor_pitch(rp)) : 0;
        tp->arena = rp->arena + (uint64_t)(t->at_c + (t->at_row + (int64_t)t->at_img * r->h) * row);
        tp->use_first = rp->use_first, tp->use_last = rp->use_last;
    }
}

void hd_place_residents(struct hd_lowering *lo, const int *ids, struct hd_room *spans) {
    size_t n = 0;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_mtensor *t = &lo->tensors[ids[i]];
        struct hd_placement *tp = &lo->plan->places[ids[i]];
        if (t->base >= 0) continue;
        bool crosses_programs = t->comes_in && t->def >= 0;
        struct hd_room s = {0, hd_mtensor_xm_bytes(tp), hd_first_use(lo, t), hd_last_use(lo, t)};
        s.at = first_fit(spans, n, &s, hd_below_rings(lo, s.from, s.to), HD_XM_ALIGN);
        tp->resident = s.at >= 0 && t->pads_agree && !crosses_programs && !t->gathered && !t->f32 &&
                       !t->never_resident;
        if (!tp->resident) tp->roll = tp->mirror = tp->slot_of_0 = tp->apart = 0, tp->xm = 0;
        if (!tp->resident) continue;
        tp->xm = (uint32_t)s.at;
        spans[n++] = s;
    }
    spread(lo, ids, spans, n, true);
    spread(lo, ids, spans, n, false);
    hd_share_places(lo);
}

int64_t hd_mtensor_word_bytes(const struct hd_lowering *lo, const struct hd_mtensor *t) {
    int64_t groups = hd_ceil_div(hd_mtensor_pixels(t), t->word_rows), n = lo->m->n;
    return hd_round_up(groups * hd_ceil_div(t->word_rows, n) * n * t->cp, HD_XM_ALIGN);
}

/* The lowest place in the arena that has room. */
static uint64_t put(struct hd_lowering *lo, struct hd_room *spans, size_t n, struct hd_room s) {
    s.at = first_fit(spans, n, &s, INT64_MAX, HD_ARENA_ALIGN);
    lo->plan->arena_bytes = (uint64_t)hd_max((int64_t)lo->plan->arena_bytes, s.at + s.bytes);
    spans[n] = s;
    return (uint64_t)s.at;
}

int hd_state_before(const struct hd_lowering *lo, int i) {
    const struct hd_mtensor *y = &lo->tensors[i];
    int in = y->def < 0 || y->base >= 0 ? -1 : hd_graph_state_before(lo->g, y->tensor);
    int id = in < 0 || hd_graph_is_output(lo->g, in) ? -1 : lo->tensor_of[in];
    const struct hd_mtensor *x = id < 0 ? y : &lo->tensors[id];
    return x->base < 0 && x->cp == y->cp && x->rows == y->rows &&
                   hd_mtensor_dram_bytes(x) == hd_mtensor_dram_bytes(y) &&
                   hd_last_use(lo, x) < hd_first_use(lo, y)
               ? id
               : -1;
}

void hd_place_arena(struct hd_lowering *lo, const int *ids, struct hd_room *spans) {
    size_t n = 0;
    lo->plan->arena_bytes = 0;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        struct hd_mtensor *t = &lo->tensors[ids[i]];
        struct hd_placement *tp = &lo->plan->places[ids[i]];
        struct hd_room s = {0, hd_mtensor_dram_bytes(t), hd_first_use(lo, t), hd_last_use(lo, t)},
                       words = s;
        if (t->base >= 0) continue;
        if (t->word_rows) words.bytes = hd_mtensor_word_bytes(lo, t);
        if (t->word_rows) tp->words = put(lo, spans, n++, words);
        tp->in_arena = !t->constant && (!tp->resident || t->comes_in || is_stored(t));
        if (!t->constant) tp->arena = 0; /* where it lay in another plan */
        /* a state lies where it lay before */
        if (!tp->in_arena || hd_state_before(lo, ids[i]) >= 0) continue;
        if (t->comes_in || t->goes_out || t->kept) s.from = 0, s.to = (int)lo->n_layers;
        tp->arena = put(lo, spans, n++, s);
    }
    hd_share_places(lo);
}
