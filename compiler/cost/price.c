/* The price of a plan: cycles of the machine operations that layers become, and a little for what
 * they move: of plans that take as long, the one that leaves DRAM alone is better. */
#include "compiler/cost/bursts.h"
#include "compiler/cost/cost.h"

static int64_t of_traffic(const struct hd_ops *s) {
    int64_t bytes = 0;
    for (size_t i = 0; i < s->n_ops; i++) bytes += hd_dram_bytes(s->lo->m, &s->ops[i]);
    return bytes / hd_axi_bytes(s->lo->m) / hd_knob(s->lo)->traffic;
}

static int64_t price(struct hd_lowering *lo, size_t first, size_t end, int64_t most, int orders) {
    uint64_t key = lo->prices ? hd_price_key(lo, first, end) ^ (uint64_t)orders : 0;
    int64_t cycles = INT64_MAX;
    if (lo->prices && hd_price_memo_get(lo->prices, key, lo->m, most, &cycles)) return cycles;
    hd_arena *scratch = lo->scratch ? lo->scratch : hd_arena_create();
    struct hd_lowerer *w;
    bool begins = first == 0 || lo->layers[first - 1].step != lo->layers[first].step;
    bool fits = hd_lower_layers(lo, scratch, lo->layers[first].step, first, end, &w) == HD_OK;
    int64_t more = fits ? of_traffic(&w->s) : 0, left = most == INT64_MAX ? most : most - more;
    if (fits && left > 0)
        cycles =
            orders ? hd_ops_reissue(&w->s, orders) : hd_ops_estimate(&w->s, begins, left, NULL);
    if (cycles < INT64_MAX) cycles += more;
    if (w->s.n_ops > lo->most_ops) lo->most_ops = w->s.n_ops;
    const struct hd_price price = {cycles < INT64_MAX ? cycles : -most, (uint32_t)w->wm.most,
                                   (uint32_t)w->pm.most, w->wm.came_round, w->pm.came_round};
    lo->scratch ? hd_arena_reset(scratch) : hd_arena_destroy(scratch);
    if (lo->prices && fits) hd_price_memo_put(lo->prices, key, lo->m, price);
    return cycles;
}

int64_t hd_estimate_layers(struct hd_lowering *lo, size_t first, size_t end, int64_t most) {
    return price(lo, first, end, most, 0);
}

int64_t hd_estimate_step(struct hd_lowering *lo, size_t first, size_t end, int64_t most,
                         bool ordered) {
    return price(lo, first, end, most, ordered);
}
