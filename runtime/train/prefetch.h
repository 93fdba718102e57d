/* Batches that a thread makes while the step before runs.
 *
 *   TRY(hd_prefetch_open(ctx, &source, first_step, &p));
 *   for (..) { in = hd_prefetch_next(p); .. }     // of the next step; good until the next call
 */
#ifndef HD_TRAIN_PREFETCH_H
#define HD_TRAIN_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

struct hd_source {
    /* Fills the inputs of a step. It is called for one step after the other, by one thread, and
     * gives the same for the same step. */
    void (*get)(void *user, int64_t step, void *const *in);
    void *user;
    int n;
    const size_t *bytes; /* of each input, of a whole batch */
};

typedef struct hd_prefetch hd_prefetch;

hd_status hd_prefetch_open(hd_ctx *ctx, const struct hd_source *source, int64_t first,
                           hd_prefetch **out);
const void *const *hd_prefetch_next(hd_prefetch *p);
void hd_prefetch_close(hd_prefetch *p); /* NULL is fine */

#endif
