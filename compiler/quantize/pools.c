/* Averages over windows that no tile of the machine holds: of rows first, then of those.
 *
 *   avgpool kh x kw   ->   avgpool 1 x kw, avgpool kh x 1
 *
 * It is one rounding more, so other windows stay. The mean of a whole image is a layer of its own.
 */
#include <string.h>

#include "compiler/quantize/quantize.h"

enum { LARGE = 32768 }; /* bytes: a quarter of base's activation memory */

static int half(hd_graph *g, const char *name, int x, int y, bool rows, const int64_t *kernel,
                const int64_t *stride) {
    int id = hd_graph_node(g, HD_IR_avgpool, name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "kernel_shape", 2,
                     (int64_t[]){rows ? kernel[0] : 1, rows ? 1 : kernel[1]});
    hd_attr_set_ints(g, id, "strides", 2, (int64_t[]){rows ? stride[0] : 1, rows ? 1 : stride[1]});
    return id;
}

bool hd_quant_large_pool(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if (n.op != HD_IR_avgpool) return false;
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    int64_t kernel[2], stride[2], pads[4], one[2];
    if (!x.known || !y.known || x.data || x.rank != 4 || x.dtype != HD_F32 ||
        hd_attr_ints(&n, "kernel_shape", kernel, 2, 1) != 2)
        return false;
    hd_attr_ints(&n, "strides", stride, 2, 1), hd_attr_ints(&n, "dilations", one, 2, 1);
    hd_attr_ints(&n, "pads", pads, 4, 0);
    bool plain = !(pads[0] | pads[1] | pads[2] | pads[3]) && one[0] == 1 && one[1] == 1 &&
                 !hd_attr_int(&n, "ceil_mode", 0) &&
                 !strcmp(hd_attr_string(&n, "auto_pad", "NOTSET"), "NOTSET");
    bool whole = kernel[0] == x.dim[2] && kernel[1] == x.dim[3];
    if (!plain || whole || kernel[0] == 1 || kernel[1] == 1 ||
        kernel[0] * kernel[1] * x.dim[1] <= LARGE)
        return false;
    int64_t dim[4] = {x.dim[0], x.dim[1], x.dim[2], y.dim[3]};
    const char *name = hd_sprintf(g->arena, "%s.rows", y.name);
    int rows = hd_graph_tensor(g, name, HD_F32, 4, dim);
    hd_graph_kill(g, node);
    half(g, name, n.in[0], rows, false, kernel, stride);
    hd_graph_swap_names(g, half(g, n.name, rows, n.out[0], true, kernel, stride), node);
    return true;
}
