/* Reductions as windows: what the machine and the quantiser know already.
 *
 *   reducemean over height, width or both    -> avgpool      reducemax -> maxpool
 *   reducesum, or what includes channels     -> conv by ones, or by 1 / count
 *   reducemean, reducesum of rows            -> matmul by ones, or by 1 / count
 *   over the middle of rows [B,..,C]         -> transpose, then as an image
 *   other reducemax                          -> transpose, and a pool of what is reduced in a row;
 *                                               of a large image over its channels row by row
 *
 * needs: shapes. gives: the same values up to rounding. A reduction over images, or of other kinds,
 * stays as it is.
 */
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

enum {
    WINDOW_MOST = 4096, /* elements that a convolution reduces at once */
    PIXELS_MOST = 2048  /* that become channels of one pixel */
};

struct reduction {
    hd_graph *g;
    int node;
    bool mean, max, pools_only;
    struct hd_tensor x, y;
    unsigned set; /* reduced dimensions */
    int64_t count;
};

static bool open_reduction(const hd_graph *g, int node, struct reduction *r) {
    const struct hd_node *n = &g->nodes[node];
    const struct hd_tensor *axes = n->n_in > 1 && n->in[1] >= 0 ? &g->tensors[n->in[1]] : NULL;
    if (n->op != HD_IR_reducemean && n->op != HD_IR_reducesum && n->op != HD_IR_reducemax)
        return false;
    *r = (struct reduction){.node = node,
                            .mean = n->op == HD_IR_reducemean,
                            .max = n->op == HD_IR_reducemax,
                            .x = g->tensors[n->in[0]],
                            .y = g->tensors[n->out[0]],
                            .count = 1};
    if (!r->x.known || !r->y.known || r->x.dtype != HD_F32 || r->x.data) return false;
    if (axes && (!axes->data || axes->dtype != HD_I64)) return false;
    int n_axes = axes ? (int)hd_tensor_elems(axes) : 0;
    if (!n_axes && hd_attr_int(n, "noop_with_empty_axes", 0)) return false;
    r->set = n_axes ? hd_axes_set(r->x.rank, n_axes, axes->data) : (1u << r->x.rank) - 1;
    for (int d = 0; d < r->x.rank; d++) {
        if (r->x.dim[d] < 1 || r->x.dim[d] > 65535) return false;
        if (r->x.dim[d] == 1) r->set &= ~(1u << d); /* nothing to reduce */
        if (r->set >> d & 1) r->count *= r->x.dim[d];
    }
    return r->count <= 1 << 20;
}

/* Of t's maker, or of what it reads; *left: nodes that are still looked at. */
static bool find_rows(const hd_graph *g, int t, int *left) {
    int p = t < 0 ? -1 : g->tensors[t].producer;
    if (p < 0 || (*left)-- <= 0) return false;
    const struct hd_node *n = &g->nodes[p];
    const struct hd_tensor *y = &g->tensors[t];
    if (n->op == HD_IR_matmul || n->op == HD_IR_gemm || n->op == HD_IR_layernorm ||
        n->op == HD_IR_qgemm || n->op == HD_IR_qlayernorm)
        return true;
    if (n->op == HD_IR_transpose || n->op == HD_IR_conv || n->op == HD_IR_qconv || !y->known ||
        !y->rank)
        return false;
    for (int k = 0; k < n->n_in; k++) {
        const struct hd_tensor *x = n->in[k] < 0 ? NULL : &g->tensors[n->in[k]];
        if (x && x->known && x->rank && x->dim[x->rank - 1] == y->dim[y->rank - 1] &&
            find_rows(g, n->in[k], left))
            return true;
    }
    return false;
}

bool hd_in_rows(const hd_graph *g, int t) {
    int left = 32;
    return find_rows(g, t, &left);
}

/* All between the first dimension and the last is reduced, those of 1 left out. */
static bool is_middle(const struct reduction *r) {
    unsigned longer = 0;
    for (int d = 1; d < r->x.rank - 1; d++)
        if (r->x.dim[d] > 1) longer |= 1u << d;
    return r->x.rank > 2 && r->set == longer;
}

/* A transpose that makes the last dimension the first behind the images. */
static bool brings_channels(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    int64_t perm[HD_MAX_RANK];
    bool is = x->rank > 2 && hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) == x->rank;
    for (int d = 0; is && d < x->rank; d++) is = perm[d] == hd_moved_dim(x->rank - 1, 1, d);
    return is;
}

bool hd_made_as_image(const hd_graph *g, int t) {
    for (int depth = 0; depth < 16 && g->tensors[t].producer >= 0; depth++) {
        const struct hd_node *n = &g->nodes[g->tensors[t].producer];
        switch (n->op) {
        case HD_IR_conv:
        case HD_IR_convtranspose:
        case HD_IR_qconv:
        case HD_IR_qconvtranspose:
        case HD_IR_maxpool:
        case HD_IR_qmaxpool:
        case HD_IR_avgpool:
        case HD_IR_qavgpool:
        case HD_IR_qmean:
            return true;
        case HD_IR_matmul:
        case HD_IR_gemm:
        case HD_IR_qgemm:
        case HD_IR_reshape:
            return false;
        case HD_IR_transpose: /* of rows: their channels are the image's */
            return brings_channels(g, n) && hd_in_rows(g, n->in[0]);
        default:
            if (n->in[0] < 0) return false;
            t = n->in[0];
        }
    }
    return false;
}

static int tensor(struct reduction *r, const char *suffix, int rank, const int64_t *dim) {
    return hd_graph_tensor(r->g, hd_sprintf(r->g->arena, "%s.%s", r->y.name, suffix), HD_F32, rank,
                           dim);
}

/* The result is y, or becomes y by a reshape. */
static int result(struct reduction *r, int rank, const int64_t *dim) {
    bool same = rank == r->y.rank && !memcmp(dim, r->y.dim, (size_t)rank * sizeof *dim);
    return same ? r->g->nodes[r->node].out[0] : tensor(r, "window", rank, dim);
}

static int reshape(struct reduction *r, int from, int to) {
    const struct hd_tensor t = r->g->tensors[to];
    int id = hd_graph_node(r->g, HD_IR_reshape, t.name, 1, &from, 1, &to);
    hd_attr_set_ints(r->g, id, "shape", t.rank, t.dim);
    return to;
}

/* The new node takes the old one's name and result. */
static int finish(struct reduction *r, enum hd_ir_op op, int n_in, const int *in, int out) {
    int y = r->g->nodes[r->node].out[0];
    const char *name = r->g->nodes[r->node].name;
    hd_graph_kill(r->g, r->node);
    int id = hd_graph_node(r->g, op, name, n_in, in, 1, &out);
    hd_graph_swap_names(r->g, id, r->node);
    if (out != y) reshape(r, out, y);
    return id;
}

/* Dequantised int8 weights that all are 1, or 1 / count. */
static int weights(struct reduction *r, int rank, const int64_t *dim) {
    hd_graph *g = r->g;
    size_t n = 1;
    for (int i = 0; i < rank; i++) n *= (size_t)dim[i];
    float value = r->mean ? 1.0f / (float)r->count : 1.0f;
    int8_t *v = hd_alloc(g->arena, n), zero = 0;
    memset(v, 1, n);
    int in[3] = {hd_graph_const(g, "ones", HD_I8, rank, dim, v),
                 hd_graph_const(g, "ones.by", HD_F32, 0, NULL, &value),
                 hd_graph_const(g, "ones.zero", HD_I8, 0, NULL, &zero)};
    int y = hd_graph_tensor(g, "ones.float", HD_F32, rank, dim);
    hd_graph_node(g, HD_IR_dequantize, "ones", 3, in, 1, &y);
    return y;
}

/* The mean of pixels, then that of channels: one window of both would be too large. */
static bool in_two(struct reduction *r, int x, int sp, const int64_t *kernel, const int64_t *dim) {
    int64_t one = 1, axis = 1, between[HD_MAX_RANK];
    memcpy(between, dim, sizeof between);
    between[1] = r->g->tensors[x].dim[1];
    int t = tensor(r, "pixels", sp + 2, between), out = result(r, sp + 2, dim);
    int id = hd_graph_node(r->g, HD_IR_avgpool, r->g->tensors[t].name, 1, &x, 1, &t);
    hd_attr_set_ints(r->g, id, "kernel_shape", sp, kernel);
    int in[2] = {t, hd_graph_const(r->g, "axes", HD_I64, 1, &one, &axis)};
    finish(r, HD_IR_reducemean, 2, in, out);
    return true;
}

/* x is an image [N,C,..]; images are not reduced. */
static bool as_window(struct reduction *r, int x) {
    const struct hd_tensor t = r->g->tensors[x];
    int sp = t.rank - 2;
    bool channels = r->set >> 1 & 1;
    int64_t kernel[HD_MAX_RANK], dim[HD_MAX_RANK];
    if (sp < 1 || sp > 3 || (r->set & 1) || (channels && r->max)) return false;
    memcpy(dim, t.dim, sizeof dim);
    for (int i = 0; i < sp; i++) {
        kernel[i] = r->set >> (i + 2) & 1 ? t.dim[i + 2] : 1;
        if (kernel[i] > 1) dim[i + 2] = 1;
    }
    bool pool = !channels && (r->mean || r->max);
    if (channels) dim[1] = 1;
    if (channels && r->mean && r->pools_only && r->count > WINDOW_MOST && r->count > t.dim[1])
        return in_two(r, x, sp, kernel, dim);
    if (!pool && r->pools_only) return false;
    int64_t wdim[HD_MAX_RANK] = {dim[1], channels ? t.dim[1] : 1};
    memcpy(wdim + 2, kernel, (size_t)sp * sizeof *kernel);
    int in[2] = {x, pool ? -1 : weights(r, t.rank, wdim)}, out = result(r, t.rank, dim);
    enum hd_ir_op op = r->max ? HD_IR_maxpool : pool ? HD_IR_avgpool : HD_IR_conv;
    int id = finish(r, op, pool ? 1 : 2, in, out);
    hd_attr_set_ints(r->g, id, "kernel_shape", sp, kernel);
    if (!pool) hd_attr_set_int(r->g, id, "group", channels ? 1 : t.dim[1]);
    return true;
}

/* x is [..,K]; the last dimensions are reduced, all of K. */
static bool as_product(struct reduction *r) {
    int64_t rows[2] = {hd_tensor_elems(&r->x) / r->count, r->count}, wdim[2] = {r->count, 1},
            dim[2] = {rows[0], 1};
    if (r->max || r->pools_only || rows[0] > 65535 || r->count > 65535) return false;
    int from = r->g->nodes[r->node].in[0];
    bool flat = r->x.rank == 2;
    int in[2] = {flat ? from : reshape(r, from, tensor(r, "rows", 2, rows)), weights(r, 2, wdim)};
    finish(r, HD_IR_matmul, 2, in, result(r, 2, dim));
    return true;
}

/* [B,..,C] over all in the middle: an image of C channels, as near to a square as its pixels allow.
 */
static bool over_rows(struct reduction *r) {
    if (r->pools_only && !r->mean) return false; /* before anything is made */
    int64_t n = r->x.dim[0], c = r->x.dim[r->x.rank - 1], high = 1, perm[4] = {0, 3, 1, 2};
    for (int64_t h = 2; h * h <= r->count; h++)
        if (r->count % h == 0) high = h;
    int64_t dim[4] = {n, high, r->count / high, c}, to[4] = {n, c, dim[1], dim[2]};
    int x = r->g->nodes[r->node].in[0], turned = tensor(r, "turned", 4, to);
    if (r->x.rank != 4 || memcmp(dim, r->x.dim, sizeof dim))
        x = reshape(r, x, tensor(r, "pixels", 4, dim));
    int id = hd_graph_node(r->g, HD_IR_transpose, r->y.name, 1, &x, 1, &turned);
    hd_attr_set_ints(r->g, id, "perm", 4, perm);
    r->set = 1u << 2 | 1u << 3;
    return as_window(r, turned);
}

/* What is reduced becomes the width of an image, everything else its channels. */
static bool over_width(struct reduction *r) {
    int64_t perm[HD_MAX_RANK], dim[HD_MAX_RANK], kernel[2] = {1, r->count};
    int n = 0, rank = r->x.rank, x = r->g->nodes[r->node].in[0];
    bool moves = false;
    for (int reduced = 0; reduced < 2; reduced++)
        for (int d = 0; d < rank; d++)
            if ((int)(r->set >> d & 1) == reduced) {
                moves = moves || d != n;
                dim[n] = r->x.dim[d], perm[n++] = d;
            }
    int64_t images = rank > 1 && !(r->set & 1) ? r->x.dim[0] : 1;
    int64_t view[4] = {images, hd_tensor_elems(&r->x) / images / r->count, 1, r->count};
    if (view[1] > 65535 || r->count > 65535) return false;
    if (moves) {
        int turned = tensor(r, "turned", rank, dim);
        int id = hd_graph_node(r->g, HD_IR_transpose, r->y.name, 1, &x, 1, &turned);
        hd_attr_set_ints(r->g, id, "perm", rank, perm);
        x = turned;
    }
    int image = reshape(r, x, tensor(r, "image", 4, view));
    view[3] = 1;
    int id = finish(r, HD_IR_maxpool, 1, &image, result(r, 4, view));
    hd_attr_set_ints(r->g, id, "kernel_shape", 2, kernel);
    return true;
}

/* The largest channel of each pixel of an image that is too large for all its pixels to be
 * channels: those of a row are, and channels are the width. */
static bool over_channels(struct reduction *r) {
    const int64_t *d = r->x.dim;
    if (r->x.rank != 4 || r->set != 1u << 1 || d[2] * d[3] <= PIXELS_MOST) return false;
    int64_t wide[4] = {d[0], d[3], d[2], d[1]}, one[4] = {d[0], d[3], d[2], 1},
            image[4] = {d[0], 1, d[2], d[3]}, kernel[2] = {1, d[1]};
    static const int64_t perm[4] = {0, 3, 2, 1};
    const struct hd_node n = r->g->nodes[r->node];
    int x = hd_moved(r->g, HD_IR_transpose, n.in[0], 4, wide, "perm", perm, -1), y = n.out[0],
        pooled = tensor(r, "most", 4, one);
    hd_graph_kill(r->g, r->node);
    int id = hd_graph_node(r->g, HD_IR_maxpool, n.name, 1, &x, 1, &pooled);
    hd_attr_set_ints(r->g, id, "kernel_shape", 2, kernel);
    hd_graph_swap_names(r->g, id, r->node);
    bool stays = r->y.rank == 4;
    x = hd_moved(r->g, HD_IR_transpose, pooled, 4, image, "perm", perm, stays ? y : -1);
    if (!stays) reshape(r, x, y);
    return true;
}

bool hd_reduce_fits(const hd_graph *g, int node) {
    struct reduction r;
    if (!open_reduction(g, node, &r) || r.max || !r.set) return false;
    unsigned set = r.set;
    for (int last = r.x.rank; last > 0 && (set >> (last - 1) & 1);) set &= ~(1u << --last);
    if (r.x.rank == 4 || (r.x.rank == 3 && hd_made_as_image(g, g->nodes[node].in[0])))
        return !(r.set & 1);
    bool across = r.x.rank == 5 && r.set == 1u << 1 && hd_attr_int(&g->nodes[node], "keepdims", 1);
    if (across && hd_made_as_image(g, g->nodes[node].in[0])) return true; /* pass volume */
    if (set == 0) return hd_tensor_elems(&r.x) / r.count <= 65535 && r.count <= 65535;
    return is_middle(&r);
}

/* The elements of t, or their squares, in the order that they had in front of a transpose; -1:
 * there is none. */
static int unturned(hd_graph *g, int t) {
    const struct hd_node *n = g->tensors[t].producer < 0 ? NULL : &g->nodes[g->tensors[t].producer];
    if (n && n->op == HD_IR_transpose) return n->in[0];
    if (!n || n->op != HD_IR_mul || n->in[0] != n->in[1]) return -1;
    int x = unturned(g, n->in[0]);
    if (x < 0) return -1;
    const struct hd_tensor shape = g->tensors[x];
    int y = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.unturned", g->tensors[t].name), HD_F32,
                            shape.rank, shape.dim);
    hd_graph_node(g, HD_IR_mul, g->tensors[y].name, 2, (int[]){x, x}, 1, &y);
    return y;
}

/* Over all dimensions the order of elements does not matter. */
static void skip_transposes(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if (hd_tensor_elems(&g->tensors[n.out[0]]) != 1 || !hd_attr_int(&n, "keepdims", 1) ||
        n.n_in != 2)
        return;
    int x = unturned(g, n.in[0]);
    if (x < 0) return;
    int64_t rank = g->tensors[x].rank, axes[HD_MAX_RANK];
    for (int d = 0; d < rank; d++) axes[d] = d;
    g->nodes[node].in[0] = x;
    g->nodes[node].in[1] = hd_graph_const(g, "axes", HD_I64, 1, &rank, axes);
}

bool hd_reduce_as_window(hd_graph *g, int node, bool pools_only) {
    struct reduction r;
    if (!open_reduction(g, node, &r)) return false;
    skip_transposes(g, node);
    open_reduction(g, node, &r);
    if (!open_reduction(g, node, &r)) return false;
    r.g = g, r.pools_only = pools_only;
    if (!r.set) { /* of one element each */
        int x = g->nodes[node].in[0];
        int id = finish(&r, HD_IR_reshape, 1, &x, g->nodes[node].out[0]);
        hd_attr_set_ints(g, id, "shape", r.y.rank, r.y.dim);
        return true;
    }
    int last = r.x.rank;
    unsigned set = r.set;
    while (last > 0 && (set >> (last - 1) & 1)) set &= ~(1u << --last); /* the dimensions behind */
    int x = g->nodes[node].in[0];
    bool image = (r.x.rank == 4 && !(is_middle(&r) && hd_in_rows(g, x))) ||
                 (r.x.rank == 3 && hd_made_as_image(g, x));
    bool volume = r.x.rank == 5 && hd_made_as_image(g, x);
    if ((image || volume) && as_window(&r, x)) return true;
    if (r.max) return over_channels(&r) || over_width(&r);
    if (image) return false;
    if (set == 0) return as_product(&r);
    return is_middle(&r) && over_rows(&r);
}
