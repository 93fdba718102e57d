/* Linear resize of a volume [N,C,D,H,W] as one of its depth and one of its images, which have
 * integer forms (compiler/pass/volume.c): what lies between is a mean of means. The one first that
 * leaves less to the other. */
#include <string.h>

#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

enum { RANK = 5, DEPTH = 2 };

/* Scales or sizes of a part of the dimensions; others stay. -1: there are none. */
static int part_of(hd_graph *g, int t, const int64_t *dim, bool deep) {
    if (t < 0 || hd_tensor_elems(&g->tensors[t]) != RANK) return -1;
    const struct hd_tensor c = g->tensors[t];
    int64_t sizes[RANK];
    float scales[RANK];
    for (int d = 0; d < RANK; d++) {
        bool mine = (d == DEPTH) == deep;
        if (c.dtype == HD_I64)
            sizes[d] = mine && d >= DEPTH ? ((const int64_t *)c.data)[d] : dim[d];
        else
            scales[d] = mine && d >= DEPTH ? ((const float *)c.data)[d] : 1;
    }
    const void *data = c.dtype == HD_I64 ? (const void *)sizes : scales;
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.%s", c.name, deep ? "depth" : "images"),
                          c.dtype, 1, c.dim, data);
}

/* The last node: the depth or the images of x as those of y. */
static int resized(hd_graph *g, int node, const char *name, int x, bool deep, int y) {
    const struct hd_node n = g->nodes[node];
    int64_t dim[RANK];
    memcpy(dim, g->tensors[x].dim, sizeof dim);
    int in[4] = {x, -1, n.n_in > 2 ? part_of(g, n.in[2], dim, deep) : -1,
                 n.n_in > 3 ? part_of(g, n.in[3], dim, deep) : -1};
    int id = hd_graph_node(g, HD_IR_resize, name, n.n_in, in, 1, &y);
    hd_qdq_copy_attrs(g, id, node, false);
    return id;
}

bool hd_quant_volume_resize(hd_graph *g, int node) {
    if (hd_qdq_linear_resize(g, node) != HD_RESIZE_VOLUME) return false;
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    bool deep = y.dim[DEPTH] * x.dim[3] * x.dim[4] <= x.dim[DEPTH] * y.dim[3] * y.dim[4];
    int64_t dim[RANK];
    for (int d = 0; d < RANK; d++) dim[d] = (d == DEPTH) == deep ? y.dim[d] : x.dim[d];
    const char *name = hd_sprintf(g->arena, "%s.%s", y.name, deep ? "depth" : "images");
    int part = hd_graph_tensor(g, name, HD_F32, RANK, dim);
    hd_graph_kill(g, node);
    resized(g, node, name, n.in[0], deep, part);
    hd_graph_swap_names(g, resized(g, node, n.name, part, !deep, n.out[0]), node);
    return true;
}
