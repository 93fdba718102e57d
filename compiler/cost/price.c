/* The price of a plan: cycles of the machine operations that layers become, and a little for what
 * they move: of plans that take as long, the one that leaves DRAM alone is better. */
#include "compiler/cost/bursts.h"
#include "compiler/cost/cost.h"

static int64_t of_traffic(const struct hd_ops *s) {
    int64_t bytes = 0;
    for (size_t i = 0; i < s->n_ops; i++) bytes += hd_dram_bytes(s->lo->m, &s->ops[i]);
    return bytes / hd_axi_bytes(s->lo->m) / hd_knob(s->lo)->traffic;
}

/* cycles 0: they do not fit. */
static struct hd_price find_price(struct hd_lowering *lo, size_t first, size_t end, int64_t most,
                                  bool ordered) {
    hd_arena *scratch = lo->scratch ? lo->scratch : hd_arena_create();
    struct hd_lowerer *w;
    bool begins = first == 0 || lo->layers[first - 1].step != lo->layers[first].step;
    bool fits = hd_lower_layers(lo, scratch, lo->layers[first].step, first, end, &w) == HD_OK;
    int64_t more = fits ? of_traffic(&w->s) : 0, left = most == INT64_MAX ? most : most - more;
    int64_t cycles = INT64_MAX;
    if (fits && left > 0)
        cycles = ordered ? hd_ops_reissue(&w->s, true) : hd_ops_estimate(&w->s, begins, left, NULL);
    cycles = !fits ? 0 : cycles < INT64_MAX ? cycles + more : -most;
    struct hd_price p = {
        cycles,           (uint32_t)w->wm.most, (uint32_t)w->pm.most, (uint32_t)w->s.n_ops,
        w->wm.came_round, w->pm.came_round};
    lo->scratch ? hd_arena_reset(scratch) : hd_arena_destroy(scratch);
    return p;
}

int64_t hd_estimate_step(struct hd_lowering *lo, size_t first, size_t end, int64_t most,
                         bool ordered) {
    uint64_t key = lo->prices ? hd_price_key(lo, first, end) ^ (uint64_t)ordered : 0;
    struct hd_price p = {.cycles = INT64_MAX};
    bool kept = lo->prices && hd_price_memo_get(lo->prices, key, lo->m, most, &p);
    if (!kept) p = find_price(lo, first, end, most, ordered);
    if (lo->limit_ops && p.ops > lo->limit_ops) return INT64_MAX;
    if (p.ops > lo->most_ops) lo->most_ops = p.ops;
    if (lo->prices && !kept && p.cycles) hd_price_memo_put(lo->prices, key, lo->m, p);
    return kept || p.cycles > 0 ? p.cycles : INT64_MAX;
}

int64_t hd_estimate_layers(struct hd_lowering *lo, size_t first, size_t end, int64_t most) {
    return hd_estimate_step(lo, first, end, most, false);
}
