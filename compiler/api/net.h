/* What is behind hd_net, for the files of this folder. */
#ifndef HD_API_NET_H
#define HD_API_NET_H

#include "compiler/api/heddle.h"
#include "compiler/ir/ir.h"

struct hd_net_order; /* of its nodes, made when it is asked for */
struct hd_net {
    hd_graph *g;
    struct hd_net_order *order;
    uint32_t seed; /* of its layers (hd_layers) */
    int n_layers, step;
    bool training;
};

/* Takes g; an hd_net around it. */
hd_status hd_net_around_take(hd_ctx *ctx, hd_graph *g, hd_net **out);

#endif
