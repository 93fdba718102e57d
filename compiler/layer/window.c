/* Windows of a node, and which words of a pixel an output tile of a product reads. */
#include "compiler/layer/layer.h"
#include "runtime/base/num.h"

int hd_layer_row(const struct hd_layer *l, int y) {
    return y / l->uy * l->sy - l->pt;
}

int hd_layer_col(const struct hd_layer *l, int x) {
    return x / l->ux * l->sx - l->pl;
}

int hd_layer_rows(const struct hd_layer *l, int n) {
    return ((int)hd_ceil_div(n, l->uy) - 1) * l->sy + (l->kh - 1) * l->dy + 1;
}

int hd_layer_cols(const struct hd_layer *l, int n) {
    return ((int)hd_ceil_div(n, l->ux) - 1) * l->sx + (l->kw - 1) * l->dx + 1;
}

/* Kernel, stride, dilation, padding and output of a window node. */
void hd_window_attrs(struct hd_layer *l, const struct hd_node *n, const hd_graph *g) {
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    int flat = y->rank == 3; /* one dimension: an image of height 1 */
    int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[4] = {0}, p[4];
    hd_attr_ints(n, "kernel_shape", kernel + flat, 2 - flat, 1);
    hd_attr_ints(n, "strides", stride + flat, 2 - flat, 1);
    hd_attr_ints(n, "dilations", dilation + flat, 2 - flat, 1);
    hd_attr_ints(n, "pads", p, 2 * (2 - flat), 0);
    pad[0] = flat ? 0 : p[0], pad[1] = flat ? p[0] : p[1];
    l->kh = (int)kernel[0], l->kw = (int)kernel[1];
    l->sy = (int)stride[0], l->sx = (int)stride[1];
    l->dy = (int)dilation[0], l->dx = (int)dilation[1];
    l->pt = (int)pad[0], l->pl = (int)pad[1];
    l->oh = flat ? 1 : (int)y->dim[2], l->ow = (int)y->dim[y->rank - 1];
    l->oc = (int)y->dim[1];
}
