/* Convolutions, also transposed ones, pools and linear resizes of three dimensions, for integers,
 * as those of two over images.
 *
 *   x [N,C,D,H,W]  ->  images [N*D,C,H,W]; those that a window of kd images meets become one image
 *   of kd*C channels, and the window is one of kh x kw
 *
 * needs: shapes; integers between quantize and dequantize, weights constant
 * gives: the same values. What works element by element between two of them works on images, too
 * destroys: nodes that nothing reads
 *
 * The machine has images in memory as [N][D][H][W][C] either way, so only where a window is deeper
 * than one image data moves: all channels of a pixel together. A depth that a window reaches
 * beyond is an image of zero points (of a pool the image beside it).
 */
#include <string.h>

#include "compiler/ir/memory.h"
#include "compiler/ir/window.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/pattern.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

enum { RANK = 5, DEPTH = 2, LAYERS_MOST = 8, TAPS_MOST = 32, LANES = 16 };

struct volume {
    hd_graph *g;
    int *images; /* per tensor of the graph as it came: its form [N*D,C,H,W]; -1 = not made */
    size_t n;
};

/* Attributes of a window of three dimensions. */
struct box {
    int64_t kernel[3], stride[3], dilation[3], before[3], after[3];
};

static int tensor(struct volume *v, int like, int rank, const int64_t *dim) {
    const struct hd_tensor *t = &v->g->tensors[like];
    const char *suffix = strstr(t->name, ".images") ? "" : ".images";
    return hd_graph_tensor(v->g, hd_sprintf(v->g->arena, "%s%s", t->name, suffix), t->dtype, rank,
                           dim);
}

static int reshaped(struct volume *v, int x, int rank, const int64_t *dim, int y) {
    if (y < 0) y = tensor(v, x, rank, dim);
    int id = hd_graph_node(v->g, HD_IR_reshape, v->g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(v->g, id, "shape", rank, dim);
    return y;
}

static int transposed(struct volume *v, int x, const int64_t *perm, int y) {
    const struct hd_tensor t = v->g->tensors[x];
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < t.rank; d++) dim[d] = t.dim[perm[d]];
    if (y < 0) y = tensor(v, x, t.rank, dim);
    int id = hd_graph_node(v->g, HD_IR_transpose, v->g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(v->g, id, "perm", t.rank, perm);
    return y;
}

static const int64_t turn[RANK] = {0, 2, 1, 3, 4}; /* its own inverse */

/* Makes y, [N,C,D,H,W], of its images; what made it is killed already. */
static void from_images(struct volume *v, int images, int y) {
    const int64_t *d = v->g->tensors[y].dim, dim[RANK] = {d[0], d[2], d[1], d[3], d[4]};
    v->images[y] = images;
    transposed(v, reshaped(v, images, RANK, dim, -1), turn, y);
}

static bool is_volume(const hd_graph *g, int t) {
    const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
    return x && x->known && x->rank == RANK && !x->data && hd_tensor_elems(x) > 0;
}

/* The images of a tensor; of one that is dequantised those of its integers, dequantised. */
static int images_of(struct volume *v, int t) {
    if (v->images[t] >= 0) return v->images[t];
    struct hd_qparam p;
    int q, maker = v->g->tensors[t].producer;
    if (maker >= 0 && hd_qdq_dequantized(v->g, t, &q, &p) && (size_t)q < v->n) {
        const struct hd_node n = v->g->nodes[maker];
        int in[3] = {images_of(v, q), n.in[1], n.n_in > 2 ? n.in[2] : -1};
        const struct hd_tensor *x = &v->g->tensors[in[0]];
        int y = tensor(v, t, x->rank, x->dim);
        int id = hd_graph_node(v->g, HD_IR_dequantize, n.name, n.n_in, in, 1, &y);
        hd_qdq_copy_attrs(v->g, id, maker, false);
        return v->images[t] = y;
    }
    const int64_t *d = v->g->tensors[t].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    return v->images[t] = reshaped(v, transposed(v, t, turn, -1), 4, dim, -1);
}

/* Its images are there, or those of the integers that it is dequantised from. */
static bool has_images(const struct volume *v, int t) {
    struct hd_qparam p;
    int q;
    if (t < 0 || (size_t)t >= v->n) return false;
    return v->images[t] >= 0 ||
           (v->g->tensors[t].producer >= 0 && hd_qdq_dequantized(v->g, t, &q, &p) &&
            (size_t)q < v->n && v->images[q] >= 0);
}

static bool box_of(const struct hd_node *n, struct box *b) {
    int64_t pads[6];
    memset(b, 0, sizeof *b);
    if (strcmp(hd_attr_string(n, "auto_pad", "NOTSET"), "NOTSET") ||
        hd_attr_ints(n, "kernel_shape", b->kernel, 3, 1) != 3 || hd_attr_int(n, "ceil_mode", 0) ||
        hd_attr_int(n, "storage_order", 0))
        return false;
    hd_attr_ints(n, "strides", b->stride, 3, 1);
    hd_attr_ints(n, "dilations", b->dilation, 3, 1);
    hd_attr_ints(n, "pads", pads, 6, 0);
    memcpy(b->before, pads, sizeof b->before);
    memcpy(b->after, pads + 3, sizeof b->after);
    return true;
}

static void set_window(struct volume *v, int node, const struct box *b) {
    hd_attr_set_ints(v->g, node, "kernel_shape", 2, b->kernel + 1);
    hd_attr_set_ints(v->g, node, "strides", 2, b->stride + 1);
    hd_attr_set_ints(v->g, node, "dilations", 2, b->dilation + 1);
    hd_attr_set_ints(v->g, node, "pads", 4,
                     (int64_t[]){b->before[1], b->before[2], b->after[1], b->after[2]});
}

/* Operands beside each other along `axis`. */
static int beside_each_other(struct volume *v, int n, const int *in, int axis, const int64_t *dim,
                             int like) {
    int y = tensor(v, like, 4, dim);
    int id = hd_graph_node(v->g, HD_IR_concat, v->g->tensors[y].name, n, in, 1, &y);
    hd_attr_set_int(v->g, id, "axis", axis);
    return y;
}

/* Image index[i] of x at place i. */
static int gathered(struct volume *v, int x, int64_t count, const int64_t *index) {
    const struct hd_tensor t = v->g->tensors[x];
    int64_t dim[4] = {count, t.dim[1], t.dim[2], t.dim[3]};
    int in[2] = {x, hd_graph_const(v->g, "depths", HD_I64, 1, &count, index)},
        y = tensor(v, x, 4, dim);
    int id = hd_graph_node(v->g, HD_IR_gather, v->g->tensors[y].name, 2, in, 1, &y);
    hd_attr_set_int(v->g, id, "axis", 0);
    return y;
}

/* Images of bytes, in runs of kd: run o of each volume is what the window of output image o meets,
 * [N*out*kd,C,H,W]. Beyond the volume lie images of `zero`, or (edge) the nearest one. */
static int windows(struct volume *v, int images, int64_t n, int64_t out, const struct box *b,
                   bool edge, int zero) {
    const struct hd_tensor x = v->g->tensors[images];
    int64_t depth = x.dim[0] / n, count = n * out * b->kernel[0], at = 0, beyond = 0;
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < out; o++)
            for (int64_t k = 0; k < b->kernel[0]; k++) {
                int64_t z = o * b->stride[0] - b->before[0] + k * b->dilation[0];
                bool inside = z >= 0 && z < depth;
                beyond += !inside && !edge;
                if (edge) z = hd_max(0, hd_min(z, depth - 1));
                index[at++] = inside || edge ? i * depth + z : n * depth;
            }
    int from = images;
    if (beyond) {
        int64_t dim[4] = {1, x.dim[1], x.dim[2], x.dim[3]}, size = dim[1] * dim[2] * dim[3];
        int8_t *zeros = hd_new_array(v->g->arena, int8_t, (size_t)size);
        memset(zeros, zero, (size_t)size);
        int in[2] = {images, hd_graph_const(v->g, "beyond", x.dtype, 4, dim, zeros)};
        dim[0] = x.dim[0] + 1;
        from = beside_each_other(v, 2, in, 0, dim, images);
    }
    return gathered(v, from, count, index);
}

/* A float tensor of what dequantize `like` makes of other integers. */
static int dequantised(struct volume *v, int q, int like, const char *name) {
    const struct hd_node n = v->g->nodes[like];
    const struct hd_tensor x = v->g->tensors[q];
    int in[3] = {q, n.in[1], n.n_in > 2 ? n.in[2] : -1};
    int y = hd_graph_tensor(v->g, name, HD_F32, x.rank, x.dim);
    int id = hd_graph_node(v->g, HD_IR_dequantize, name, n.n_in, in, 1, &y);
    hd_qdq_copy_attrs(v->g, id, like, false);
    return y;
}

/* Groups of whole words, of as few old ones as that takes, where the layers of a window stand
 * beside each other: then words move and not single channels. The others have zeros as weights, in
 * words that are read anyway. */
static int64_t groups_of_words(int64_t groups, int64_t channels, int64_t kd) {
    for (int64_t r = 1; r <= groups && kd > 1; r++)
        if (groups % r == 0 && r * (channels / groups) % LANES == 0) return groups / r;
    return kd > 1 && channels <= LANES ? 1 : groups;
}

/* Weights [M,C/g,kd,kh,kw] as [M,kd*C/g,kh,kw], of `joined` groups instead of n; -1: they are no
 * integers. */
static int flat_weights(struct volume *v, int t, int64_t n, int64_t joined) {
    const struct hd_node *dq = hd_qdq_constant(v->g, t);
    if (!dq || hd_attr_get(dq, "block_size")) return -1;
    const struct hd_tensor w = v->g->tensors[dq->in[0]], *zero = dq->n_in > 2 && dq->in[2] >= 0
                                                                     ? &v->g->tensors[dq->in[2]]
                                                                     : NULL;
    bool bytes = w.dtype == HD_I8 || w.dtype == HD_U8;
    if (!bytes || w.rank != RANK || (zero && !zero->data)) return -1;
    if (hd_tensor_elems(&v->g->tensors[dq->in[1]]) != 1 && hd_attr_int(dq, "axis", 1) != 0)
        return -1;
    int64_t per = w.dim[1], all = per * (n / joined), area = w.dim[3] * w.dim[4],
            dim[4] = {w.dim[0], all * w.dim[2], w.dim[3], w.dim[4]}, each = dim[1] * area;
    int8_t *to = hd_new_array(v->g->arena, int8_t, (size_t)(dim[0] * each) + 1);
    const int8_t *from = w.data;
    for (int64_t m = 0; m < dim[0]; m++) {
        int64_t first = m / (dim[0] / n) % (n / joined) * per;
        int none = zero ? hd_qdq_int_at(zero, hd_tensor_elems(zero) == 1 ? 0 : m) : 0;
        memset(to + m * each, none, (size_t)each);
        for (int64_t c = 0; c < per; c++)
            for (int64_t z = 0; z < w.dim[2]; z++, from += area)
                memcpy(to + m * each + (z * all + first + c) * area, from, (size_t)area);
    }
    int q = hd_graph_const(v->g, hd_sprintf(v->g->arena, "%s.flat", w.name), w.dtype, 4, dim, to);
    return dequantised(v, q, (int)(dq - v->g->nodes), hd_sprintf(v->g->arena, "%s.flat", w.name));
}

/* The integers behind a dequantised volume. */
static bool integers(const struct volume *v, int t, int *q, struct hd_qparam *p) {
    return is_volume(v->g, t) && hd_qdq_dequantized(v->g, t, q, p) && is_volume(v->g, *q) &&
           (size_t)*q < v->n;
}

static int conv_input(struct volume *v, int x, int q, struct hd_qparam p, const struct box *b,
                      int64_t out, int64_t group) {
    if (b->kernel[0] == 1 && b->stride[0] == 1 && !b->before[0] && !b->after[0])
        return images_of(v, x);
    int64_t n = v->g->tensors[x].dim[0], kd = b->kernel[0];
    int dq = v->g->tensors[x].producer;
    int y = windows(v, images_of(v, q), n, out, b, false, p.zp);
    const struct hd_tensor t = v->g->tensors[y];
    if (group > 1) {
        int64_t apart[6] = {t.dim[0] / kd, kd, group, t.dim[1] / group, t.dim[2], t.dim[3]},
                groups_first[6] = {0, 2, 1, 3, 4, 5};
        y = transposed(v, reshaped(v, y, 6, apart, -1), groups_first, -1);
    }
    int64_t dim[4] = {t.dim[0] / kd, kd * t.dim[1], t.dim[2], t.dim[3]};
    y = reshaped(v, y, 4, dim, -1);
    return dequantised(v, y, dq, v->g->tensors[y].name);
}

static bool conv(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct hd_qparam p;
    struct box b;
    int q, y = n.out[0];
    if (!is_volume(v->g, y) || !integers(v, n.in[0], &q, &p) || !box_of(&n, &b)) return false;
    int64_t macs = hd_node_macs(v->g, &n), n_groups = hd_attr_int(&n, "group", 1),
            group = groups_of_words(n_groups, v->g->tensors[n.in[0]].dim[1], b.kernel[0]);
    int w = flat_weights(v, n.in[1], n_groups, group);
    if (w < 0) return false;
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    int in[3] = {conv_input(v, n.in[0], q, p, &b, d[2], group), w, n.n_in > 2 ? n.in[2] : -1};
    int made = tensor(v, y, 4, dim), id;
    hd_graph_kill(v->g, node);
    id = hd_graph_node(v->g, HD_IR_conv, n.name, n.n_in, in, 1, &made);
    hd_attr_set_int(v->g, id, "group", group);
    if (group != n_groups) hd_attr_set_int(v->g, id, "macs", macs);
    set_window(v, id, &b);
    hd_graph_swap_names(v->g, id, node);
    from_images(v, made, y);
    return true;
}

/* Phase r of a transposed convolution along the depth: results r, r + stride, .. of which each
 * meets a window of the same layers of the weights. */
struct phase {
    int64_t n, tap[TAPS_MOST];
    struct box window; /* over the input */
};

static bool phase_of(const struct box *b, int64_t r, int64_t depth, int64_t out, struct phase *p) {
    *p = (struct phase){.window = *b};
    int64_t z[TAPS_MOST];
    for (int64_t k = 0; k < b->kernel[0]; k++) {
        int64_t from = r + b->before[0] - k * b->dilation[0];
        if (from % b->stride[0] == 0) z[p->n] = from / b->stride[0], p->tap[p->n++] = k;
    }
    if (!p->n) return false; /* nothing but the bias */
    struct box *w = &p->window;
    int64_t count = hd_ceil_div(out - r, b->stride[0]);
    w->kernel[0] = p->n, w->stride[0] = 1, w->dilation[0] = p->n > 1 ? z[1] - z[0] : 1;
    w->before[0] = -z[0], w->after[0] = count + z[0] - depth;
    return true;
}

/* Layers p->tap of weights [C,M/g,kd,kh,kw] along the depth as channels, [n*C,M/g,kh,kw], in each
 * group for itself; -1: they are no integers. */
static int weight_layers(struct volume *v, int t, const struct phase *p, int64_t r, int64_t group) {
    const struct hd_node *dq = hd_qdq_constant(v->g, t);
    if (!dq || hd_attr_get(dq, "block_size")) return -1;
    const struct hd_tensor w = v->g->tensors[dq->in[0]];
    if ((w.dtype != HD_I8 && w.dtype != HD_U8) || w.rank != RANK || w.dim[0] % group) return -1;
    if (hd_tensor_elems(&v->g->tensors[dq->in[1]]) != 1 && hd_attr_int(dq, "axis", 1) != 1)
        return -1;
    int64_t dim[4] = {w.dim[0] * p->n, w.dim[1], w.dim[3], w.dim[4]}, area = dim[2] * dim[3],
            each = w.dim[0] / group;
    int8_t *to = hd_new_array(v->g->arena, int8_t, (size_t)(dim[0] * dim[1] * area) + 1), *at = to;
    for (int64_t c = 0; c < dim[0]; c++) {
        int64_t from = c / (each * p->n) * each + c % each, k = p->tap[c / each % p->n];
        for (int64_t m = 0; m < dim[1]; m++, at += area)
            memcpy(at, (const int8_t *)w.data + ((from * dim[1] + m) * w.dim[2] + k) * area,
                   (size_t)area);
    }
    const char *name = hd_sprintf(v->g->arena, "%s.depth%d", w.name, (int)r);
    int q = hd_graph_const(v->g, name, w.dtype, 4, dim, to);
    return dequantised(v, q, (int)(dq - v->g->nodes), name);
}

bool hd_volume_spreads(const struct hd_node *n) {
    struct box b;
    struct phase p;
    if (n->op != HD_IR_convtranspose || !box_of(n, &b) || hd_attr_get(n, "output_shape") ||
        b.kernel[0] > TAPS_MOST || b.stride[0] > LAYERS_MOST)
        return false;
    for (int64_t r = 0; r < b.stride[0]; r++)
        if (!phase_of(&b, r, 1, b.stride[0], &p)) return false;
    return true;
}

/* Images of each phase by themselves, then in the order of the depth. */
static bool convtranspose(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int64_t extra[3], group = hd_attr_int(&n, "group", 1);
    struct hd_qparam p;
    struct phase phase;
    struct box b;
    int q, y = n.out[0], part[LAYERS_MOST];
    if (!is_volume(v->g, y) || !integers(v, n.in[0], &q, &p) || !hd_volume_spreads(&n) ||
        !box_of(&n, &b))
        return false;
    const int64_t *d = v->g->tensors[y].dim, depth = v->g->tensors[n.in[0]].dim[DEPTH], out = d[2],
                  all = d[0] * out, dim[4] = {all, d[1], d[3], d[4]},
                  phases = hd_min(b.stride[0], out);
    phase_of(&b, 0, depth, out, &phase);
    if (weight_layers(v, n.in[1], &phase, 0, group) < 0) return false;
    hd_attr_ints(&n, "output_padding", extra, 3, 0);
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)all), first = 0;
    hd_graph_kill(v->g, node);
    for (int64_t r = 0; r < phases; r++) {
        phase_of(&b, r, depth, out, &phase);
        int64_t count = hd_ceil_div(out - r, b.stride[0]),
                one[4] = {d[0] * count, d[1], d[3], d[4]};
        int in[3] = {conv_input(v, n.in[0], q, p, &phase.window, count, group),
                     weight_layers(v, n.in[1], &phase, r, group), n.n_in > 2 ? n.in[2] : -1};
        part[r] = tensor(v, y, 4, one);
        int id = hd_graph_node(v->g, HD_IR_convtranspose, n.name, n.n_in, in, 1, &part[r]);
        hd_attr_set_int(v->g, id, "group", group);
        hd_attr_set_ints(v->g, id, "output_padding", 2, extra + 1);
        set_window(v, id, &b);
        if (r == 0) hd_graph_swap_names(v->g, id, node);
        for (int64_t i = 0; i < d[0] * count; i++)
            index[i / count * out + i % count * b.stride[0] + r] = first + i;
        first += d[0] * count;
    }
    int made = part[0];
    if (phases > 1)
        made = gathered(v, beside_each_other(v, (int)phases, part, 0, dim, y), all, index);
    from_images(v, made, y);
    return true;
}

/* Largest along the depth first, [N*out,C,kd,H*W], then of each image. */
static bool maxpool(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct hd_qparam p;
    struct box b;
    int q, y = n.out[0];
    if (n.n_out > 1 && n.out[1] >= 0) return false;
    if (!is_volume(v->g, y) || !integers(v, n.in[0], &q, &p) || !box_of(&n, &b)) return false;
    int64_t kd = b.kernel[0], out = v->g->tensors[y].dim[DEPTH];
    if (b.dilation[0] != 1 && (b.before[0] || b.after[0])) return false;
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * out, d[1], d[3], d[4]};
    int x = images_of(v, n.in[0]);
    bool same = kd == 1 && b.stride[0] == 1;
    if (!same) {
        int runs = windows(v, images_of(v, q), d[0], out, &b, true, 0);
        const struct hd_tensor t = v->g->tensors[runs];
        int64_t apart[4] = {d[0] * out, kd, t.dim[1], t.dim[2] * t.dim[3]}, perm[4] = {0, 2, 1, 3},
                back[4] = {d[0] * out, t.dim[1], t.dim[2], t.dim[3]},
                deep[4] = {d[0] * out, t.dim[1], 1, t.dim[2] * t.dim[3]};
        int deeps = transposed(v, reshaped(v, runs, 4, apart, -1), perm, -1);
        x = dequantised(v, deeps, v->g->tensors[n.in[0]].producer, v->g->tensors[deeps].name);
        int largest = tensor(v, x, 4, deep);
        int id = hd_graph_node(v->g, HD_IR_maxpool, n.name, 1, &x, 1, &largest);
        hd_attr_set_ints(v->g, id, "kernel_shape", 2, (int64_t[]){kd, 1});
        x = reshaped(v, largest, 4, back, -1);
    }
    int made = tensor(v, y, 4, dim);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_maxpool, n.name, 1, &x, 1, &made);
    set_window(v, id, &b);
    hd_graph_swap_names(v->g, id, node);
    from_images(v, made, y);
    return true;
}

enum pool { NO_POOL, POOL_ALL, POOL_IMAGES, POOL_DEPTH };

static enum pool pool_of(const hd_graph *g, int node, struct box *b) {
    const struct hd_node *n = &g->nodes[node];
    if (n->op != HD_IR_avgpool || !is_volume(g, n->in[0]) || !is_volume(g, n->out[0]) ||
        !box_of(n, b))
        return NO_POOL;
    const int64_t *d = g->tensors[n->in[0]].dim + DEPTH;
    bool all = true, still[3];
    for (int i = 0; i < 3; i++) {
        bool pads = b->before[i] || b->after[i];
        all = all && b->kernel[i] == d[i] && !pads;
        still[i] = b->kernel[i] == 1 && b->stride[i] == 1 && !pads;
    }
    return all ? POOL_ALL : still[0] ? POOL_IMAGES : still[1] && still[2] ? POOL_DEPTH : NO_POOL;
}

bool hd_volume_pool(const hd_graph *g, int node) {
    struct box b;
    return pool_of(g, node, &b) != NO_POOL;
}

/* The mean of a whole volume is that of an image of D*H rows; along the depth alone, of one of H*W
 * columns. */
static bool average(struct volume *v, int node) {
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
    x = each ? images_of(v, n.in[0]) : reshaped(v, n.in[0], 4, dim, -1);
    int made = tensor(v, y, 4, each ? of_images : of_image);
    if (kind == POOL_ALL) b.kernel[1] = dim[2], b.kernel[2] = dim[3];
    if (kind == POOL_DEPTH)
        b.kernel[1] = b.kernel[0], b.stride[1] = b.stride[0], b.dilation[1] = b.dilation[0],
        b.before[1] = b.before[0], b.after[1] = b.after[0];
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_avgpool, n.name, 1, &x, 1, &made);
    hd_attr_set_int(v->g, id, "count_include_pad", hd_attr_int(&n, "count_include_pad", 0));
    set_window(v, id, &b);
    hd_graph_swap_names(v->g, id, node);
    if (each)
        from_images(v, made, y);
    else
        reshaped(v, made, RANK, v->g->tensors[y].dim, y);
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
static bool resize(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    enum hd_resize_kind kind = hd_qdq_linear_resize(v->g, node);
    struct hd_qparam p;
    int q, y = n.out[0];
    bool deep = kind == HD_RESIZE_DEPTH;
    if ((!deep && kind != HD_RESIZE_IMAGES) || !is_volume(v->g, y) || !integers(v, n.in[0], &q, &p))
        return false;
    const int64_t *d = v->g->tensors[n.in[0]].dim, *to = v->g->tensors[y].dim;
    int64_t rows[4] = {d[0], d[1], d[2], d[3] * d[4]}, of_rows[4] = {d[0], d[1], to[2], rows[3]},
            of_images[4] = {d[0] * d[2], d[1], to[3], to[4]};
    int x = deep ? reshaped(v, n.in[0], 4, rows, -1) : images_of(v, n.in[0]),
        in[4] = {x, -1, -1, -1};
    for (int i = 2; i < n.n_in; i++)
        in[i] = resize_operand(v, n.in[i], v->g->tensors[x].dim, deep ? 2 : 3, deep ? -1 : 4);
    int made = tensor(v, y, 4, deep ? of_rows : of_images);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_resize, n.name, n.n_in, in, 1, &made);
    hd_qdq_copy_attrs(v->g, id, node, false);
    hd_graph_swap_names(v->g, id, node);
    if (deep)
        reshaped(v, made, RANK, v->g->tensors[y].dim, y);
    else
        from_images(v, made, y);
    return true;
}

/* Whether operand k can stand beside images of volumes like y; *out: it, as an image. */
static bool beside(struct volume *v, int t, int y, int *out) {
    const struct hd_tensor *x = &v->g->tensors[t], *like = &v->g->tensors[y];
    *out = t;
    if (x->known && hd_tensor_elems(x) == 1 && x->rank <= 4) return true;
    if (!is_volume(v->g, t) || (size_t)t >= v->n) return false;
    for (int d = 0; d < RANK; d++) {
        bool all = x->dim[d] == like->dim[d];
        if (!all && !(x->dim[d] == 1 && (d != DEPTH || like->dim[0] == 1))) return false;
    }
    *out = images_of(v, t);
    return true;
}

/* Channels of volumes beside each other, as a U-Net has them, of what has images already. */
static bool concat(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int in[HD_MAX_OPERANDS], y = n.out[0];
    bool any = false, all = is_volume(v->g, y) && hd_attr_int(&n, "axis", 0) == 1;
    for (int k = 0; all && k < n.n_in; k++) {
        all = is_volume(v->g, n.in[k]) && (size_t)n.in[k] < v->n;
        any = any || (all && has_images(v, n.in[k]));
    }
    if (!all || !any) return false;
    for (int k = 0; k < n.n_in; k++) in[k] = images_of(v, n.in[k]);
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    hd_graph_kill(v->g, node);
    from_images(v, beside_each_other(v, n.n_in, in, 1, dim, y), y);
    return true;
}

/* Element by element, of what has images already. */
static bool elementwise(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int in[HD_MAX_OPERANDS], y = n.out[0];
    bool any = false;
    if (!hd_is_elementwise(n.op) || n.op == HD_IR_dequantize || n.n_out != 1 ||
        n.n_in > HD_MAX_OPERANDS || !is_volume(v->g, y))
        return false;
    for (int k = 0; k < n.n_in; k++) any = any || has_images(v, n.in[k]);
    for (int k = 0; any && k < n.n_in; k++) {
        in[k] = n.in[k];
        if (n.in[k] >= 0 && !beside(v, n.in[k], y, &in[k])) return false;
    }
    if (!any) return false;
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    int made = tensor(v, y, 4, dim);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, n.op, n.name, n.n_in, in, 1, &made);
    hd_qdq_copy_attrs(v->g, id, node, false);
    hd_graph_swap_names(v->g, id, node);
    from_images(v, made, y);
    return true;
}

hd_status hd_pass_volume(hd_ctx *ctx, hd_graph *g) {
    struct volume v = {g, NULL, g->n_tensors};
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    bool any = false;
    v.images = hd_new_array(g->arena, int, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_tensors; i++) v.images[i] = -1;
    for (size_t i = 0; i < n; i++) {
        enum hd_ir_op op = g->nodes[order[i]].op;
        bool done = op == HD_IR_conv            ? conv(&v, order[i])
                    : op == HD_IR_convtranspose ? convtranspose(&v, order[i])
                    : op == HD_IR_maxpool       ? maxpool(&v, order[i])
                    : op == HD_IR_avgpool       ? average(&v, order[i])
                    : op == HD_IR_concat        ? concat(&v, order[i])
                    : op == HD_IR_resize        ? resize(&v, order[i])
                                                : elementwise(&v, order[i]);
        any = any || done;
    }
    if (!any) return HD_OK;
    hd_pass_dce(g);
    TRY(hd_graph_infer(ctx, g));
    return hd_pass_patterns(ctx, g, "simplify");
}
