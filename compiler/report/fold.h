/* Repeated blocks in a sequence of operations, so that a picture draws each once. */
#ifndef HD_REPORT_FOLD_H
#define HD_REPORT_FOLD_H

#include "compiler/report/items.h"

struct hd_block { /* operations first .. first + period - 1, and count - 1 copies behind them */
    int first, period, count;
};

/* Blocks of the operations ids[0..n) (items in order), from left to right, those that leave out
 * most first. Two copies agree in type and window, and in how far back each operand is made.
 * Returns their number; they are the arena's. */
int hd_find_blocks(hd_arena *a, const struct hd_items *items, const int *ids, int n,
                   struct hd_block **out);

#endif
