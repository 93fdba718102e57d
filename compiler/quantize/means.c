/* The mean of an image of few channels as a mean of means of its blocks.
 *
 *   avgpool of all pixels   ->   avgpool of all(avgpool of kh x kw pixels, side by side)
 *
 * The mean of a whole image is summed in the order of ONNX Runtime, four sums beside each other
 * (docs/numerics.md), so the vector unit waits for each of few channels. Pools of blocks do not
 * wait. The mean is over many blocks, so their rounding adds little. */
#include "compiler/quantize/quantize.h"
#include "runtime/base/num.h"

enum {
    LANES = 16,
    WAIT = 6,    /* cycles from one pixel to the next of a mean, at least */
    BEGIN = 200, /* of a pool */
    BLOCK_MOST = 16,
    BLOCKS_LEAST = 16 /* of which a mean is: their rounding then adds 1 dB at most */
};

static int64_t cycles(int64_t pixels, int64_t words) {
    return pixels * hd_max(words, WAIT);
}

bool hd_quant_block_mean(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    int64_t k[2], pads[4], block[2] = {1, 1}, rest[2];
    if (n.op != HD_IR_avgpool || n.n_out != 1) return false;
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    if (!x.known || !y.known || x.dtype != HD_F32 || x.rank != 4 || y.rank != 4 ||
        hd_attr_ints(&n, "kernel_shape", k, 2, 0) != 2 || k[0] != x.dim[2] || k[1] != x.dim[3] ||
        y.dim[2] != 1 || y.dim[3] != 1)
        return false;
    hd_attr_ints(&n, "pads", pads, 4, 0);
    if (pads[0] || pads[1] || pads[2] || pads[3]) return false;
    int64_t words = hd_ceil_div(x.dim[1], LANES), best = cycles(k[0] * k[1], words);
    for (int64_t h = 1; h <= BLOCK_MOST && h <= k[0]; h++)
        for (int64_t w = 1; w <= BLOCK_MOST && w <= k[1]; w++) {
            if (k[0] % h || k[1] % w || h * w < 2 || k[0] * k[1] < BLOCKS_LEAST * h * w) continue;
            int64_t cost = BEGIN + k[0] * k[1] * words + cycles(k[0] * k[1] / h / w, words);
            if (cost < best) best = cost, block[0] = h, block[1] = w;
        }
    if (block[0] * block[1] == 1) return false;
    int64_t dim[4] = {x.dim[0], x.dim[1], k[0] / block[0], k[1] / block[1]};
    int t = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.blocks", y.name), HD_F32, 4, dim),
        in = n.in[0];
    int id = hd_graph_node(g, HD_IR_avgpool, g->tensors[t].name, 1, &in, 1, &t);
    hd_attr_set_ints(g, id, "kernel_shape", 2, block);
    hd_attr_set_ints(g, id, "strides", 2, block);
    rest[0] = dim[2], rest[1] = dim[3];
    g->nodes[node].in[0] = t;
    hd_attr_set_ints(g, node, "kernel_shape", 2, rest);
    return true;
}
