/* What machine operations cost: cycles. */
#ifndef HD_COMPILER_COST_H
#define HD_COMPILER_COST_H

#include "compiler/cost/memo.h"
#include "compiler/machine_ops/machine_ops.h"

static inline int64_t hd_op_field(const struct hd_slot_op *op, int f) {
    return hd_field_get(op->words, (enum hd_field)f);
}
/* Cycles that the operations take, by the model of estimate.c, with fetch when they are a program
 * from its beginning; INT64_MAX as soon as they are known to be more than `most`. Those of each
 * layer are added to by_layer, unless NULL. Before hd_ops_bound_tokens. */
int64_t hd_ops_estimate(const struct hd_ops *s, bool begins, int64_t most, int64_t *by_layer);
/* When each operation would start if units had queues of so many operations. */
int64_t hd_ops_starts(const struct hd_ops *s, int queue, double *out);
/* Puts the operations of a whole step in another order of issue where that is estimated to take
 * fewer cycles, of so many that it tries; each unit keeps its own order (reissue.c). Returns the
 * estimate. Before hd_ops_bound_tokens. */
enum { HD_ORDERS = 3 };
int64_t hd_ops_reissue(struct hd_ops *s, int orders);
/* Program words of each operation; of them without the bundle's that it begins; their sum. */
struct hd_op_lengths {
    int *of, *own;
    int64_t words;
};
struct hd_op_lengths hd_ops_lengths(const struct hd_ops *s, hd_arena *a);
/* Cost of layers [first, end), which are whole chains of one step: cycles, those that the program
 * takes from the bus, and a part of the beats that they move (knob traffic); INT64_MAX when they do
 * not fit, or are more than `most`. */
int64_t hd_estimate_layers(struct hd_lowering *lo, size_t first, size_t end, int64_t most);
/* The same of all layers of a step, with their operations in another order of issue (reissue.c) if
 * that is asked for, which takes three times as long. */
int64_t hd_estimate_step(struct hd_lowering *lo, size_t first, size_t end, int64_t most,
                         bool ordered);
/* Prices found before (memo.c), that hd_estimate_layers looks at where lo->prices is one. */
struct hd_price {
    int64_t cycles;          /* not 0; < 0: more than -cycles */
    uint32_t wm, pm;         /* words that were taken of them */
    uint32_t ops;            /* operations */
    bool wm_round, pm_round; /* its ring came round: the size counts */
};
uint64_t hd_price_key(const struct hd_lowering *lo, size_t first, size_t end);
/* Of layers [first, end) around a chain: the same for windows that are alike, as in blocks that
 * repeat. What constants hold and where tensors lie in DRAM moves a cycle, not a choice. */
uint64_t hd_window_key(const struct hd_lowering *lo, size_t first, size_t chain, size_t end);
/* cycles: INT64_MAX for more than `most`. */
bool hd_price_memo_get(const struct hd_price_memo *m, uint64_t key, const struct hd_machine *on,
                       int64_t most, struct hd_price *out);
void hd_price_memo_put(struct hd_price_memo *m, uint64_t key, const struct hd_machine *on,
                       struct hd_price price);
/* The part of keys that one search does not change: its layers, as text, options, the machine. */
uint64_t hd_prices_of(const struct hd_lowering *lo, const char *layers);

#endif
