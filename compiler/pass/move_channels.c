/* Channels of an image at other places, as a product by 0 and 1. */
#include "compiler/pass/qdq.h"

int hd_move_channels(hd_graph *g, const char *name, int x, const int64_t *from, int y) {
    const struct hd_tensor t = g->tensors[y];
    int64_t c = t.dim[1], of = g->tensors[x].dim[1], dim[4] = {c, of, 1, 1};
    int64_t ones[2] = {1, 1}, none[4] = {0}, one = 1;
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)(c * of));
    int32_t *bias = hd_new_array(g->arena, int32_t, (size_t)c);
    float scale = 1;
    for (int64_t k = 0; k < c; k++) w[k * of + from[k]] = 1;
    int in[4] = {x, hd_graph_const(g, hd_sprintf(g->arena, "%s.moves", name), HD_I8, 4, dim, w),
                 hd_graph_const(g, hd_sprintf(g->arena, "%s.bias", name), HD_I32, 1, &c, bias),
                 hd_graph_const(g, hd_sprintf(g->arena, "%s.one", name), HD_F32, 1, &one, &scale)};
    int id = hd_graph_node(g, HD_IR_qconv, name, 4, in, 1, &y);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    hd_attr_set_int(g, id, "lo", t.dtype == HD_I8 ? -128 : 0);
    hd_attr_set_int(g, id, "hi", t.dtype == HD_I8 ? 127 : 255);
    hd_attr_set_int(g, id, "moves", 1); /* its products are no work of the network */
    hd_attr_set_int(g, id, "group", 1);
    hd_attr_set_ints(g, id, "kernel_shape", 2, ones);
    hd_attr_set_ints(g, id, "strides", 2, ones);
    hd_attr_set_ints(g, id, "pads", 4, none);
    return id;
}
