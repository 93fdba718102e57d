/* Part of pass volume: pools and linear resizes. */
#include "compiler/pass/volume.h"

/* Largest along the depth first, of an image of D rows and H*W columns, then of each image. */
bool hd_volume_maxpool(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct hd_qparam p;
    struct box b;
    int q, y = n.out[0];
    if (n.n_out > 1 && n.out[1] >= 0) return false;
    if (!hd_volume_is(v->g, y) || !hd_volume_integers(v, n.in[0], &q, &p) || !hd_volume_box(&n, &b))
        return false;
    const struct hd_tensor from = v->g->tensors[n.in[0]], to = v->g->tensors[y];
    int64_t area = from.dim[3] * from.dim[4], out = to.dim[DEPTH],
            rows[4] = {to.dim[0], to.dim[1], from.dim[DEPTH], area},
            deep[4] = {to.dim[0], to.dim[1], out, area},
            back[RANK] = {to.dim[0], to.dim[1], out, from.dim[3], from.dim[4]},
            images[4] = {to.dim[0] * out, to.dim[1], to.dim[3], to.dim[4]};
    int x = n.in[0], id = -1;
    bool alone = hd_volume_deep(&b);
    hd_graph_kill(v->g, node);
    if (b.kernel[0] > 1 || b.stride[0] > 1) {
        x = hd_volume_reshaped(v, x, 4, rows, -1);
        int largest = hd_volume_tensor(v, x, 4, deep);
        id = hd_graph_node(v->g, HD_IR_maxpool, n.name, 1, &x, 1, &largest);
        hd_volume_set_deep(v, id, &b);
        x = hd_volume_reshaped(v, largest, RANK, back, alone ? y : -1);
    }
    if (!alone) {
        x = hd_volume_images(v, x);
        int made = hd_volume_tensor(v, y, 4, images);
        id = hd_graph_node(v->g, HD_IR_maxpool, n.name, 1, &x, 1, &made);
        hd_volume_set_window(v, id, &b);
        hd_volume_from_images(v, made, y);
    }
    hd_graph_swap_names(v->g, id, node);
    return true;
}

enum pool { NO_POOL, POOL_ALL, POOL_IMAGES, POOL_DEPTH };

static enum pool pool_of(const hd_graph *g, int node, struct box *b) {
    const struct hd_node *n = &g->nodes[node];
    if (n->op != HD_IR_avgpool || !hd_volume_is(g, n->in[0]) || !hd_volume_is(g, n->out[0]) ||
        !hd_volume_box(n, b))
        return NO_POOL;
    const int64_t *d = g->tensors[n->in[0]].dim + DEPTH;
    bool all = true, pads[3];
    for (int i = 0; i < 3; i++) {
        pads[i] = b->before[i] || b->after[i];
        all = all && b->kernel[i] == d[i] && !pads[i];
    }
    if (b->kernel[0] == 1 && b->stride[0] == 1 && !pads[0]) return POOL_IMAGES;
    return all ? POOL_ALL : hd_volume_deep(b) ? POOL_DEPTH : NO_POOL;
}

bool hd_volume_pool(const hd_graph *g, int node) {
    struct box b;
    return pool_of(g, node, &b) != NO_POOL;
}

/* The mean of a whole volume is that of an image of D*H rows; along the depth alone, of one of H*W
 * columns. */
bool hd_volume_average(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct box b;
    enum pool kind = pool_of(v->g, node, &b);
    if (kind == NO_POOL) return false;
    int y = n.out[0], x;
    const int64_t *d = v->g->tensors[n.in[0]].dim, *to = v->g->tensors[y].dim;
    int64_t rows = kind == POOL_ALL ? d[2] * d[3] : d[2],
            dim[4] = {d[0], d[1], rows, d[3] * d[4] * d[2] / rows},
            of_image[4] = {to[0], to[1], to[2], to[3] * to[4]},
            of_images[4] = {to[0] * to[2], to[1], to[3], to[4]};
    bool each = kind == POOL_IMAGES;
    x = each ? hd_volume_images(v, n.in[0]) : hd_volume_reshaped(v, n.in[0], 4, dim, -1);
    int made = hd_volume_tensor(v, y, 4, each ? of_images : of_image);
    if (kind == POOL_ALL) b.kernel[1] = dim[2], b.kernel[2] = dim[3];
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_avgpool, n.name, 1, &x, 1, &made);
    hd_attr_set_int(v->g, id, "count_include_pad", hd_attr_int(&n, "count_include_pad", 0));
    (kind == POOL_DEPTH ? hd_volume_set_deep : hd_volume_set_window)(v, id, &b);
    hd_graph_swap_names(v->g, id, node);
    if (each)
        hd_volume_from_images(v, made, y);
    else
        hd_volume_reshaped(v, made, RANK, v->g->tensors[y].dim, y);
    return true;
}

/* Scales or sizes of a resize for other dimensions of it, `dim` of x; i, j: those of the volume
 * that are the last two, -1: as they are. */
static int resize_operand(struct volume *v, int t, const int64_t *dim, int i, int j) {
    if (t < 0 || hd_tensor_elems(&v->g->tensors[t]) != RANK) return -1;
    const struct hd_tensor c = v->g->tensors[t];
    int64_t four = 4, sizes[4] = {dim[0], dim[1], dim[2], dim[3]};
    float scales[4] = {1, 1, 1, 1};
    for (int k = 0; k < 2; k++) {
        int from = k ? j : i;
        if (from < 0) continue;
        if (c.dtype == HD_I64)
            sizes[2 + k] = ((const int64_t *)c.data)[from];
        else
            scales[2 + k] = ((const float *)c.data)[from];
    }
    const void *data = c.dtype == HD_I64 ? (const void *)sizes : scales;
    return hd_graph_const(v->g, c.name, c.dtype, 1, &four, data);
}

/* Linearly, each image for itself; or the depth, as rows of an image of H*W columns. */
bool hd_volume_resize(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    enum hd_resize_kind kind = hd_qdq_linear_resize(v->g, node);
    struct hd_qparam p;
    int q, y = n.out[0];
    bool deep = kind == HD_RESIZE_DEPTH;
    if ((!deep && kind != HD_RESIZE_IMAGES) || !hd_volume_is(v->g, y) ||
        !hd_volume_integers(v, n.in[0], &q, &p))
        return false;
    const int64_t *d = v->g->tensors[n.in[0]].dim, *to = v->g->tensors[y].dim;
    int64_t rows[4] = {d[0], d[1], d[2], d[3] * d[4]}, of_rows[4] = {d[0], d[1], to[2], rows[3]},
            of_images[4] = {d[0] * d[2], d[1], to[3], to[4]};
    int x = deep ? hd_volume_reshaped(v, n.in[0], 4, rows, -1) : hd_volume_images(v, n.in[0]),
        in[4] = {x, -1, -1, -1};
    for (int i = 2; i < n.n_in; i++)
        in[i] = resize_operand(v, n.in[i], v->g->tensors[x].dim, deep ? 2 : 3, deep ? -1 : 4);
    int made = hd_volume_tensor(v, y, 4, deep ? of_rows : of_images);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_resize, n.name, n.n_in, in, 1, &made);
    hd_qdq_copy_attrs(v->g, id, node, false);
    hd_graph_swap_names(v->g, id, node);
    if (deep)
        hd_volume_reshaped(v, made, RANK, v->g->tensors[y].dim, y);
    else
        hd_volume_from_images(v, made, y);
    return true;
}
