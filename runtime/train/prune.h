/* Pruning of a quantised network, as its file has it: weights that count least become 0. */
#ifndef HD_TRAIN_PRUNE_H
#define HD_TRAIN_PRUNE_H

#include "compiler/ir/ir.h"

struct hd_prune_options {
    double share; /* 0 to 1: of the weights of a layer; of words of channels */
    /* Whole words: so many channels that lie side by side, in all layers that read them. The
     * compiler leaves such channels out. Words count less by the mean size of their weights, beside
     * that of their layer. One word of each set of channels stays. */
    bool blocks;
    int word;
};

struct hd_pruned {
    int64_t weights, zero; /* int8, of convolutions and products; that are 0 now */
    int words, cut;        /* of channels that may go; that went */
};

/* Errors: HD_INVALID, nothing can be pruned. */
hd_status hd_prune(hd_ctx *ctx, hd_graph *g, const struct hd_prune_options *o,
                   struct hd_pruned *out);

#endif
