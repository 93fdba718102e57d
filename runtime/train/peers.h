/* Private to runtime/train: ranks whose devices reach each other, as cuda does by NCCL. Gradients
 * stay in the devices' memory: each rank's go to all, and the update adds them by the tree of
 * shards.h, as nodes. Only moves go over the link, so sums have the bits of the exchange by MPI,
 * which results still take. */
#ifndef HD_TRAIN_PEERS_H
#define HD_TRAIN_PEERS_H

#include "runtime/runtime.h"
#include "runtime/train/train.h"

struct hd_train_peers {
    hd_session *step, *update; /* borrowed */
    int n_results, n_state, n_gradients;
    int me, n, shards;
    const size_t *bytes; /* of a gradient */
    struct hd_session_move *move;
};

/* Whether all ranks can, which they agree on by MPI. *why: else, a constant text. */
hd_status hd_train_peers_agree(hd_ctx *ctx, const struct hd_train_options *o, bool *out,
                               const char **why);
/* The last n inputs of the update, gradients, become those of all shards: [shards,..], and the
 * update means them. Shard k of `mine` of rank r is row k * ranks + r. */
hd_status hd_train_peers_update(hd_ctx *ctx, hd_graph *update, int n, int shards, int ranks);
/* Joins the update's device with those of other ranks; p has the rest. The arena's. */
hd_status hd_train_peers_open(hd_ctx *ctx, hd_arena *a, hd_ranks *ranks, struct hd_train_peers *p);
/* Behind the run of a shard, this rank's k-th: its gradients go to all. All ranks call. */
hd_status hd_train_peers_gather(hd_ctx *ctx, struct hd_train_peers *p, int k);

#endif
