/* Private to runtime/train: sums of gradients over the shards of a batch, on one rank or several.
 *
 * Shard k is leaf k of a tree of halves. A sum is formed as soon as both of its sides are there, so
 * a rank keeps one buffer for each level. Ranks own subtrees, and exchange sums level by level:
 * both sides add the same two numbers, so all ranks hold the same bits.
 *
 * The last shard of a rank is written where its subtree is summed. Outputs lie in the buffers in
 * the order in which a run makes them, cut into buckets. A thread sums and exchanges each bucket as
 * soon as all of it is made, while the run goes on with what lies in front of it in the network.
 *
 * Ranks of one computer send nothing: their buffers lie in a window. When all have run their
 * shards, each forms the whole tree for its parts of gradients, and reads the buffers of the others
 * for that where they are. */
#ifndef HD_TRAIN_SHARDS_H
#define HD_TRAIN_SHARDS_H

#include "runtime/train/train.h"

struct hd_shards;

struct hd_shard_outputs {
    int results, gradients; /* loss and metrics come first */
    const size_t *elems;    /* f32, of each */
    const int *order;       /* in which they are made, the same on all ranks */
};

/* The arena's, but for a thread. Errors: see hd_trainer_open. */
hd_status hd_shards_open(hd_ctx *ctx, hd_arena *a, int shards, hd_ranks *ranks,
                         const struct hd_shard_outputs *outputs, struct hd_shards **out);
void hd_shards_close(struct hd_shards *s);  /* NULL is fine */
int hd_shards_n(const struct hd_shards *s); /* of all ranks */
/* Whether ranks have a window. */
bool hd_shards_window(const struct hd_shards *s);
struct hd_shard_part { /* of a gradient: elements */
    int gradient;
    size_t from, n;
};
/* Of a window: this rank wants these parts alone, the others of its gradients are not formed. All
 * ranks call, no part is two ranks', and ranks meet between a sum and the next room. */
void hd_shards_own(struct hd_shards *s, const struct hd_shard_part *parts, int n);
/* A step: how many shards this rank computes, from *first on. */
int hd_shards_begin(struct hd_shards *s, int *first);
/* In front of the run of a shard: where it writes results, gradients. */
void hd_shards_room(struct hd_shards *s, void **out);
/* In the run, or not at all: an output is made at `data`. What is made elsewhere than in its room
 * counts when the run is over. */
void hd_shards_made(struct hd_shards *s, int output, const float *data);
void hd_shards_add(struct hd_shards *s); /* behind the run: what was written is there */
/* Of all shards: r[0] the mean loss, the other results sums; the means of gradients, good until the
 * next room. */
hd_status hd_shards_sum(hd_ctx *ctx, struct hd_shards *s, float *r, const float *const **out);

#endif
