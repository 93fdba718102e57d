/* The price of a plan: cycles of the machine operations that layers become. */
#include "compiler/cost/cost.h"

int64_t hd_estimate_layers(struct hd_lowering *lo, size_t first, size_t end) {
    hd_arena *scratch = hd_arena_create();
    struct hd_lowerer *w;
    int64_t cycles = INT64_MAX;
    bool begins = first == 0 || lo->layers[first - 1].step != lo->layers[first].step;
    if (hd_lower_layers(lo, scratch, lo->layers[first].step, first, end, &w) == HD_OK)
        cycles = hd_ops_estimate(&w->s, begins);
    if (w->s.n_ops > lo->most_ops) lo->most_ops = w->s.n_ops;
    hd_arena_destroy(scratch);
    return cycles;
}
