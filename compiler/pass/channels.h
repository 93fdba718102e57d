/* Which tensors share their channels: what a convolution or product makes, through functions of
 * single channels, depthwise convolutions, pools and sums, up to those that read it. So a channel
 * whose weights are 0 in all readers can be left out of all of them.
 *
 * Of a graph of floats between quantize and dequantize nodes, or of integers. */
#ifndef HD_PASS_CHANNELS_H
#define HD_PASS_CHANNELS_H

#include "compiler/ir/ir.h"

struct hd_channel_set {
    bool fixed; /* an input, a result, or something else that wants all of them */
    int64_t n;  /* channels */
};

struct hd_channels {
    int *of;      /* per tensor: its set; -1 = none */
    int64_t *per; /* per tensor: values of one channel side by side in dimension 1 */
    struct hd_channel_set *set;
    int n;
};

enum hd_channel_role {
    HD_CHANNEL_OTHER,
    HD_CHANNEL_KEEPS, /* channel c of the result comes from channel c of the operands */
    HD_CHANNEL_MIXES  /* a convolution or product: operand 0, by the weights of operand 1 */
};
enum hd_channel_role hd_channel_role(const hd_graph *g, const struct hd_node *n);
bool hd_is_depthwise(const hd_graph *g, const struct hd_node *n); /* of those that keep */
/* Of a node that mixes: the dimension of its weights that is the channels of operand 0. */
int hd_channel_axis(const struct hd_node *n);

struct hd_channels hd_channels_find(const hd_graph *g, hd_arena *a);

#endif
