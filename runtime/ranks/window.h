/* Memory that all ranks see, where they run on one computer: what one rank writes the others read
 * in place, without messages.
 *
 *   hd_window *w = NULL;
 *   TRY(hd_window_open(ctx, ranks, bytes, &w)); // NULL: they are on several computers
 *   float *of_all = hd_window_data(w);
 *   of_all[hd_ranks_me(ranks)] = ..;
 *   hd_window_meet(w);                          // now each rank sees what all wrote
 *
 * The environment's HEDDLE_WINDOW=none has ranks of one computer do without. */
#ifndef HD_RANKS_WINDOW_H
#define HD_RANKS_WINDOW_H

#include "runtime/ranks/ranks.h"

typedef struct hd_window hd_window;

/* All ranks call, with the same bytes, and get the same answer: a window whose bytes are 0; or
 * NULL, where a rank cannot reach the memory of rank 0, there is only one rank, or their number is
 * no power of two. Errors: those of messages. The caller closes it. */
hd_status hd_window_open(hd_ctx *ctx, hd_ranks *r, size_t bytes, hd_window **out);
void *hd_window_data(hd_window *w); /* begins at a cache line */
/* Waits, asleep, until all ranks have called: each sees what the others wrote before. */
void hd_window_meet(hd_window *w);
void hd_window_close(hd_window *w); /* NULL is fine */

#endif
