/* Private to runtime/train: sums of gradients over the shards of a batch, on one rank or several.
 *
 * Shard k is leaf k of a tree of halves. A sum is formed as soon as both of its sides are there, so
 * a rank keeps one buffer for each level. Ranks own subtrees, and exchange sums level by level:
 * both sides add the same two numbers, so all ranks hold the same bits. */
#ifndef HD_TRAIN_SHARDS_H
#define HD_TRAIN_SHARDS_H

#include "runtime/train/train.h"

struct hd_shards;

/* bytes: of the n gradients, f32; results: loss and metrics. The arena's. Errors: see
 * hd_trainer_open. */
hd_status hd_shards_open(hd_ctx *ctx, hd_arena *a, int shards, hd_ranks *ranks, const size_t *bytes,
                         int n, int results, struct hd_shards **out);
int hd_shards_n(const struct hd_shards *s); /* of all ranks */
/* How many shards this rank computes, from *first on. */
int hd_shards_mine(const struct hd_shards *s, int *first);
/* Where a run of a shard writes results, gradients: out[results + n]. */
void hd_shards_room(struct hd_shards *s, void **out);
void hd_shards_add(struct hd_shards *s); /* what was written is there */
/* Of all shards: r[0] the mean loss, the other results sums; the n means of gradients, good until
 * the next room. */
hd_status hd_shards_sum(hd_ctx *ctx, struct hd_shards *s, float *r, const float *const **out);

#endif
