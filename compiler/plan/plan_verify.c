/* Check of a plan that was read: ranges, chains, places. */
#include <inttypes.h>

#include "compiler/layer/kind.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/plan_text.h"
#include "runtime/base/num.h"

static hd_status out_of_range(const struct hd_lowering *lo, const char *what, size_t i,
                              const char *member, int64_t got, int64_t least, int64_t most) {
    return hd_fail(lo->ctx, HD_INVALID,
                   "%s %zu: %s is %" PRId64 ", allowed %" PRId64 " to %" PRId64, what, i, member,
                   got, least, most);
}

#define CHECK(what, i, name, got, least, most)                                                     \
    if ((int64_t)(got) < (int64_t)(least) || (int64_t)(got) > (int64_t)(most))                     \
        return out_of_range(lo, what, i, name, (int64_t)(got), (int64_t)(least), (int64_t)(most));

static hd_status check_tiling(const struct hd_lowering *lo, size_t i) {
    const struct hd_machine *m = lo->m;
    const struct hd_layer *l = &lo->layers[i];
    const struct hd_tiling *lt = &lo->plan->tilings[i];
#define TILING(type, name, least, most, ...) CHECK("layer", i, #name, lt->name, least, most)
#include "compiler/plan/tiling.def"
#define RECURRENT(type, name, least, most, ...)                                                    \
    CHECK("layer", i, "rnn." #name, lt->rnn.name, least, most)
#include "compiler/plan/tiling.def"
    return HD_OK;
}

static hd_status check_place(const struct hd_lowering *lo, size_t i) {
    const struct hd_machine *m = lo->m;
    const struct hd_placement *tp = &lo->plan->places[i];
#define PLACE(type, name, least, most, ...) CHECK("tensor", i, #name, tp->name, least, most)
#include "compiler/plan/place.def"
    return HD_OK;
}

/* Every layer of a chain says the same two ends, and is of the same step. */
static hd_status check_chain(const struct hd_lowering *lo, size_t i) {
    const struct hd_tiling *lt = &lo->plan->tilings[i];
    for (int k = lt->chain_first; k <= lt->chain_last; k++) {
        const struct hd_tiling *other = &lo->plan->tilings[k];
        if (other->chain_first != lt->chain_first || other->chain_last != lt->chain_last)
            return hd_fail(lo->ctx, HD_INVALID,
                           "layer %d: chain %d to %d, layer %zu says %d to %d: want one chain", k,
                           other->chain_first, other->chain_last, i, lt->chain_first,
                           lt->chain_last);
        if (lo->layers[k].step != lo->layers[i].step)
            return hd_fail(lo->ctx, HD_INVALID, "layer %d: chain with layer %zu of another step", k,
                           i);
    }
    return HD_OK;
}

struct part { /* of a memory, for some layers */
    size_t tensor;
    int64_t at, end;
    int from, to;
};

static hd_status check_apart(const struct hd_lowering *lo, const char *memory, const struct part *p,
                             size_t n, int64_t bytes) {
    for (size_t i = 0; i < n; i++) {
        if (p[i].end > bytes)
            return hd_fail(lo->ctx, HD_INVALID,
                           "tensor %zu: ends at byte %" PRId64 " of %s, allowed %" PRId64,
                           p[i].tensor, p[i].end, memory, bytes);
        for (size_t k = 0; k < i; k++)
            if (p[k].at < p[i].end && p[i].at < p[k].end && p[k].from <= p[i].to &&
                p[i].from <= p[k].to)
                return hd_fail(lo->ctx, HD_INVALID,
                               "tensors %zu and %zu overlap in %s: bytes %" PRId64 " to %" PRId64
                               " and %" PRId64 " to %" PRId64 ", both between layers %d and %d",
                               p[k].tensor, p[i].tensor, memory, p[k].at, p[k].end, p[i].at,
                               p[i].end, p[i].from > p[k].from ? p[i].from : p[k].from,
                               p[i].to < p[k].to ? p[i].to : p[k].to);
    }
    return HD_OK;
}

static hd_status check_xm(const struct hd_lowering *lo, struct part *parts) {
    size_t n = 0;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        const struct hd_placement *tp = &lo->plan->places[i];
        if (t->base >= 0 || !tp->resident) continue;
        int64_t end = tp->xm + hd_mtensor_xm_bytes(tp);
        struct part p = {i, tp->xm, end, hd_first_use(lo, t), hd_last_use(lo, t)};
        int64_t room = hd_below_rings(lo, p.from, p.to);
        if (end > room)
            return hd_fail(lo->ctx, HD_INVALID,
                           "tensor %zu: ends at byte %" PRId64
                           " of XM, where rings of its layers begin at %" PRId64,
                           i, end, room);
        parts[n++] = p;
    }
    return check_apart(lo, "XM", parts, n, lo->m->xm_bytes);
}

static hd_status check_arena(const struct hd_lowering *lo, struct part *parts) {
    size_t n = 0;
    for (size_t i = 0; i < lo->n_tensors; i++) {
        const struct hd_mtensor *t = &lo->tensors[i];
        const struct hd_placement *tp = &lo->plan->places[i];
        int64_t at = (int64_t)tp->arena;
        struct part p = {i, at, at + hd_mtensor_dram_bytes(t), hd_first_use(lo, t),
                         hd_last_use(lo, t)};
        bool in = tp->in_arena && !t->constant && t->base < 0, crosses = t->comes_in || t->goes_out;
        if (t->base < 0 && !t->constant && !tp->in_arena && (crosses || !tp->resident))
            return hd_fail(lo->ctx, HD_INVALID, "tensor %zu: has no place, want in_arena=1", i);
        if (t->constant && tp->arena != t->image_at)
            return hd_fail(lo->ctx, HD_INVALID,
                           "tensor %zu: arena is %" PRIu64 ", want %" PRIu64
                           ", where the image has it",
                           i, tp->arena, t->image_at);
        if (t->word_rows && t->base < 0) {
            int64_t words = (int64_t)tp->words;
            parts[n++] =
                (struct part){i, words, words + hd_mtensor_word_bytes(lo, t), p.from, p.to};
        }
        if (crosses || t->kept) p.from = 0, p.to = (int)lo->n_layers;
        int before = hd_state_before(lo, (int)i);
        if (before >= 0 && lo->plan->places[before].arena == tp->arena) continue;
        if (in) parts[n++] = p;
    }
    return check_apart(lo, "the arena", parts, n, (int64_t)lo->plan->arena_bytes);
}

hd_status hd_plan_verify(const struct hd_lowering *lo) {
    for (size_t i = 0; i < lo->n_layers; i++) TRY(check_tiling(lo, i));
    for (size_t i = 0; i < lo->n_tensors; i++) TRY(check_place(lo, i));
    for (size_t i = 0; i < lo->n_layers; i++) TRY(check_chain(lo, i));
    hd_arena *a = hd_arena_create();
    struct part *parts = hd_new_array(a, struct part, 2 * lo->n_tensors + 1);
    hd_status s = check_xm(lo, parts);
    if (s == HD_OK) s = check_arena(lo, parts);
    hd_arena_destroy(a);
    return s;
}
