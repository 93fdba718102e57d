/* Bytes of an image at other places: as a product by 0 and 1, or by a reshape or a transpose. */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

int hd_move_product(hd_graph *g, enum hd_ir_op op, const char *name, int x, const int64_t dim[4],
                    const int8_t *w, int64_t stride, int y) {
    const struct hd_tensor t = g->tensors[y];
    int64_t none[4] = {0}, one = 1;
    int32_t *bias = hd_new_array(g->arena, int32_t, (size_t)dim[0]);
    float scale = 1;
    int in[4] = {x, hd_graph_const(g, hd_sprintf(g->arena, "%s.moves", name), HD_I8, 4, dim, w),
                 hd_graph_const(g, hd_sprintf(g->arena, "%s.bias", name), HD_I32, 1, dim, bias),
                 hd_graph_const(g, hd_sprintf(g->arena, "%s.one", name), HD_F32, 1, &one, &scale)};
    int id = hd_graph_node(g, op, name, 4, in, 1, &y);
    hd_attr_set_string(g, id, "to", hd_dtype_name(t.dtype));
    hd_attr_set_int(g, id, "lo", t.dtype == HD_I8 ? -128 : 0);
    hd_attr_set_int(g, id, "hi", t.dtype == HD_I8 ? 127 : 255);
    hd_attr_set_int(g, id, "moves", 1); /* its products are no work of the network */
    hd_attr_set_int(g, id, "group", 1);
    hd_attr_set_ints(g, id, "kernel_shape", 2, dim + 2);
    hd_attr_set_ints(g, id, "strides", 2, (int64_t[]){1, stride});
    hd_attr_set_ints(g, id, "pads", 4, none);
    return id;
}

int hd_move_channels(hd_graph *g, const char *name, int x, const int64_t *from, int y) {
    int64_t c = g->tensors[y].dim[1], of = g->tensors[x].dim[1], dim[4] = {c, of, 1, 1};
    int8_t *w = hd_new_array(g->arena, int8_t, (size_t)(c * of));
    for (int64_t k = 0; k < c; k++) w[k * of + from[k]] = 1;
    return hd_move_product(g, HD_IR_qconv, name, x, dim, w, 1, y);
}

int hd_channel_copies(hd_graph *g, int t, int64_t f) {
    const struct hd_tensor c = g->tensors[t];
    int64_t n = hd_tensor_elems(&c), all = n * f;
    if (f == 1 || (n == 1 && c.dtype == HD_F32)) return t;
    char *v = hd_alloc(g->arena, (size_t)all * 4);
    for (int64_t i = 0; i < all; i++) memcpy(v + i * 4, (const char *)c.data + i / f * 4, 4);
    return hd_graph_const(g, c.name, c.dtype, 1, &all, v);
}

int hd_moved(hd_graph *g, enum hd_ir_op op, int x, int rank, const int64_t *dim, const char *what,
             const int64_t *list, int y) {
    const struct hd_tensor t = g->tensors[x];
    if (y < 0) y = hd_graph_tensor(g, t.name, t.dtype, rank, dim);
    int id = hd_graph_node(g, op, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, what, rank, list);
    return y;
}

void hd_first_pixels(hd_graph *g, int x, int y) {
    const struct hd_tensor to = g->tensors[y];
    int64_t two = 2, zeros[2] = {0}, axes[2] = {2, 3};
    int in[4] = {x, hd_graph_const(g, "from", HD_I64, 1, &two, zeros),
                 hd_graph_const(g, "to", HD_I64, 1, &two, &to.dim[2]),
                 hd_graph_const(g, "axis", HD_I64, 1, &two, axes)};
    hd_graph_node(g, HD_IR_slice, to.name, 4, in, 1, &y);
}
