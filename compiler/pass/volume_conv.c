/* Part of pass volume: convolutions, also transposed ones. */
#include "compiler/pass/volume.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

enum { LAYERS_MOST = 8, TAPS_MOST = 32, LANES = 16, COLUMN_TAPS = 200, WINDOW_TAPS = 256 };

/* Groups of whole words, of as few old ones as that takes, where the layers of a window stand
 * beside each other: then words move and not single channels. The others have zeros as weights, in
 * words that are read anyway. */
static int64_t groups_of_words(int64_t groups, int64_t channels, int64_t kd) {
    for (int64_t r = 1; r <= groups && kd > 1; r++)
        if (groups % r == 0 && r * (channels / groups) % LANES == 0) return groups / r;
    return kd > 1 && channels <= LANES ? 1 : groups;
}

/* The dequantize of weights that are bytes, with one scale or scales along `axis`; NULL: they are
 * none. */
static const struct hd_node *byte_weights(const struct volume *v, int t, int64_t axis) {
    const struct hd_node *dq = hd_qdq_constant(v->g, t);
    if (!dq || hd_attr_get(dq, "block_size")) return NULL;
    const struct hd_tensor *w = &v->g->tensors[dq->in[0]];
    bool one = hd_tensor_elems(&v->g->tensors[dq->in[1]]) == 1,
         bytes = w->dtype == HD_I8 || w->dtype == HD_U8;
    return bytes && w->rank == RANK && (one || hd_attr_int(dq, "axis", 1) == axis) ? dq : NULL;
}

/* Other weights [dim] in place of those that dq makes; frees the bytes. */
static int weights_like(struct volume *v, const struct hd_node *dq, const char *what,
                        const int64_t *dim, int8_t *bytes) {
    const struct hd_tensor *w = &v->g->tensors[dq->in[0]];
    const char *name = hd_sprintf(v->g->arena, "%s.%s", w->name, what);
    int like = (int)(dq - v->g->nodes), q = hd_graph_const(v->g, name, w->dtype, 4, dim, bytes);
    free(bytes);
    return hd_volume_dequantised(v, q, like, name);
}

/* Weights [M,C/g,kd,kh,kw] as [M,kd*C/g,kh,kw], of `joined` groups instead of n; -1: they are no
 * integers. */
static int flat_weights(struct volume *v, int t, int64_t n, int64_t joined) {
    const struct hd_node *dq = byte_weights(v, t, 0);
    if (!dq) return -1;
    int by = dq->n_in > 2 ? dq->in[2] : -1;
    const struct hd_tensor w = v->g->tensors[dq->in[0]], *zero = by < 0 ? NULL : &v->g->tensors[by];
    int64_t per = w.dim[1], all = per * (n / joined), area = w.dim[3] * w.dim[4],
            dim[4] = {w.dim[0], all * w.dim[2], w.dim[3], w.dim[4]}, each = dim[1] * area;
    int8_t *to = calloc((size_t)(dim[0] * each) + 1, 1);
    HD_ASSERT(to);
    const int8_t *from = w.data;
    for (int64_t m = 0; m < dim[0]; m++) {
        int64_t first = m / (dim[0] / n) % (n / joined) * per;
        int none = zero ? hd_qdq_int_at(zero, hd_tensor_elems(zero) == 1 ? 0 : m) : 0;
        memset(to + m * each, none, (size_t)each);
        for (int64_t c = 0; c < per; c++)
            for (int64_t z = 0; z < w.dim[2]; z++, from += area)
                memcpy(to + m * each + (z * all + first + c) * area, from, (size_t)area);
    }
    return weights_like(v, dq, "flat", dim, to);
}

/* What a window of several layers meets, as one image; rows: see in_rows(). */
static int conv_input(struct volume *v, int x, int q, struct hd_qparam p, const struct box *b,
                      int64_t out, int64_t group, bool rows) {
    if (b->kernel[0] == 1 && b->stride[0] == 1 && !b->before[0] && !b->after[0])
        return hd_volume_images(v, x);
    int64_t n = v->g->tensors[x].dim[0], kd = b->kernel[0];
    int dq = v->g->tensors[x].producer;
    int y = hd_volume_windows(v, hd_volume_images(v, q), n, out, b, p.zp);
    const struct hd_tensor t = v->g->tensors[y];
    if (rows) {
        int64_t apart[5] = {t.dim[0] / kd, kd, t.dim[1], t.dim[2], t.dim[3]},
                in_rows[5] = {0, 2, 3, 1, 4},
                dim[4] = {t.dim[0] / kd, t.dim[1], t.dim[2] * kd, t.dim[3]};
        y = hd_volume_transposed(v, hd_volume_reshaped(v, y, 5, apart, -1), in_rows, -1);
        y = hd_volume_reshaped(v, y, 4, dim, -1);
        return hd_volume_dequantised(v, y, dq, v->g->tensors[y].name);
    }
    if (group > 1) {
        int64_t apart[6] = {t.dim[0] / kd, kd, group, t.dim[1] / group, t.dim[2], t.dim[3]},
                groups_first[6] = {0, 2, 1, 3, 4, 5};
        y = hd_volume_transposed(v, hd_volume_reshaped(v, y, 6, apart, -1), groups_first, -1);
    }
    int64_t dim[4] = {t.dim[0] / kd, kd * t.dim[1], t.dim[2], t.dim[3]};
    y = hd_volume_reshaped(v, y, 4, dim, -1);
    return hd_volume_dequantised(v, y, dq, v->g->tensors[y].name);
}

/* Weights [M,C/g,kd,kh,kw] as [M,C/g,kh*kd,kw]; -1: they are no integers. */
static int row_weights(struct volume *v, int t) {
    const struct hd_node *dq = byte_weights(v, t, 0);
    if (!dq) return -1;
    const struct hd_tensor w = v->g->tensors[dq->in[0]];
    int64_t kd = w.dim[2], kh = w.dim[3], kw = w.dim[4], dim[4] = {w.dim[0], w.dim[1], kh * kd, kw};
    int8_t *to = calloc((size_t)hd_tensor_elems(&w) + 1, 1);
    HD_ASSERT(to);
    const int8_t *from = w.data;
    for (int64_t m = 0; m < w.dim[0] * w.dim[1]; m++)
        for (int64_t z = 0; z < kd; z++)
            for (int64_t y = 0; y < kh; y++, from += kw)
                memcpy(to + ((m * kh + y) * kd + z) * kw, from, (size_t)kw);
    return weights_like(v, dq, "rows", dim, to);
}

/* Whether the layers of a window become rows of one image, H*kd of them, and not its channels: then
 * rows move and not pixels, and what is depthwise stays so. Not where that takes more words of
 * pixels, nor where no layer makes the volume as images (a move makes any order of pixels), nor for
 * windows that the machine may refuse, or too long to make few channels for several columns at once
 * (columns.c). */
static bool in_rows(const struct volume *v, const struct hd_node *n, int q, const struct box *b) {
    int64_t channels = v->g->tensors[q].dim[1], made = v->g->tensors[n->out[0]].dim[1];
    bool gaps = b->dilation[1] > 1 && b->kernel[1] > 1;
    if (b->kernel[0] == 1 || gaps || !v->made[q]) return false;
    int64_t rows = b->kernel[0] * b->kernel[1], group = hd_attr_int(n, "group", 1);
    if (rows * b->kernel[2] > WINDOW_TAPS) return false;
    if (group == channels) return true;
    bool few = group == 1 && made < LANES;
    return channels % LANES == 0 &&
           !(few && rows * (b->kernel[2] + LANES / made - 1) > COLUMN_TAPS);
}

/* Along the depth alone: a convolution of an image of D rows and H*W columns. */
static bool deep_conv(struct volume *v, int node, const struct box *b) {
    const struct hd_node n = v->g->nodes[node];
    int y = n.out[0], w = row_weights(v, n.in[1]);
    const struct hd_tensor from = v->g->tensors[n.in[0]], to = v->g->tensors[y];
    int64_t columns = to.dim[3] * to.dim[4],
            rows[4] = {from.dim[0], from.dim[1], from.dim[DEPTH], columns},
            dim[4] = {to.dim[0], to.dim[1], to.dim[DEPTH], columns};
    if (w < 0) return false;
    int in[3] = {hd_volume_reshaped(v, n.in[0], 4, rows, -1), w, n.n_in > 2 ? n.in[2] : -1};
    int made = hd_volume_tensor(v, y, 4, dim);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, HD_IR_conv, n.name, n.n_in, in, 1, &made);
    hd_attr_set_int(v->g, id, "group", hd_attr_int(&n, "group", 1));
    hd_volume_set_deep(v, id, b);
    hd_graph_swap_names(v->g, id, node);
    hd_volume_reshaped(v, made, RANK, to.dim, y);
    return true;
}

bool hd_volume_conv(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    struct hd_qparam p;
    struct box b;
    int q, y = n.out[0];
    if (!hd_volume_is(v->g, y) || !hd_volume_integers(v, n.in[0], &q, &p) || !hd_volume_box(&n, &b))
        return false;
    if (hd_volume_deep(&b)) return deep_conv(v, node, &b);
    int64_t macs = hd_node_macs(v->g, &n), n_groups = hd_attr_int(&n, "group", 1),
            group = groups_of_words(n_groups, v->g->tensors[n.in[0]].dim[1], b.kernel[0]);
    bool rows = in_rows(v, &n, q, &b);
    if (rows) group = n_groups;
    int w = rows ? row_weights(v, n.in[1]) : flat_weights(v, n.in[1], n_groups, group);
    if (w < 0) return false;
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    int in[3] = {conv_input(v, n.in[0], q, p, &b, d[2], group, rows), w, n.n_in > 2 ? n.in[2] : -1};
    int made = hd_volume_tensor(v, y, 4, dim), id;
    hd_graph_kill(v->g, node);
    id = hd_graph_node(v->g, HD_IR_conv, n.name, n.n_in, in, 1, &made);
    hd_attr_set_int(v->g, id, "group", group);
    if (group != n_groups) hd_attr_set_int(v->g, id, "macs", macs);
    int64_t layers = rows ? b.kernel[0] : 1;
    b.kernel[1] *= layers, b.stride[1] *= layers;
    b.before[1] *= layers, b.after[1] *= layers;
    hd_volume_set_window(v, id, &b);
    hd_graph_swap_names(v->g, id, node);
    hd_volume_from_images(v, made, y);
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
    const struct hd_node *dq = byte_weights(v, t, 1);
    if (!dq) return -1;
    const struct hd_tensor w = v->g->tensors[dq->in[0]];
    int64_t dim[4] = {w.dim[0] * p->n, w.dim[1], w.dim[3], w.dim[4]}, area = dim[2] * dim[3],
            each = w.dim[0] / group;
    int8_t *to = calloc((size_t)(dim[0] * dim[1] * area) + 1, 1), *at = to;
    HD_ASSERT(to);
    for (int64_t c = 0; c < dim[0]; c++) {
        int64_t from = c / (each * p->n) * each + c % each, k = p->tap[c / each % p->n];
        for (int64_t m = 0; m < dim[1]; m++, at += area)
            memcpy(at, (const int8_t *)w.data + ((from * dim[1] + m) * w.dim[2] + k) * area,
                   (size_t)area);
    }
    return weights_like(v, dq, hd_sprintf(v->g->arena, "depth%d", (int)r), dim, to);
}

bool hd_volume_spreads(const struct hd_node *n) {
    struct box b;
    struct phase p;
    if (n->op != HD_IR_convtranspose || !hd_volume_box(n, &b) || hd_attr_get(n, "output_shape") ||
        b.kernel[0] > TAPS_MOST || b.stride[0] > LAYERS_MOST)
        return false;
    for (int64_t r = 0; r < b.stride[0]; r++)
        if (!phase_of(&b, r, 1, b.stride[0], &p)) return false;
    return true;
}

/* Images of each phase by themselves, then in the order of the depth. */
bool hd_volume_convtranspose(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int64_t extra[3], group = hd_attr_int(&n, "group", 1);
    struct hd_qparam p;
    struct phase phase;
    struct box b;
    int q, y = n.out[0], part[LAYERS_MOST];
    if (!hd_volume_is(v->g, y) || !hd_volume_integers(v, n.in[0], &q, &p) ||
        !hd_volume_spreads(&n) || !hd_volume_box(&n, &b))
        return false;
    const struct hd_tensor to = v->g->tensors[y];
    int64_t depth = v->g->tensors[n.in[0]].dim[DEPTH], images = to.dim[0], out = to.dim[DEPTH],
            all = images * out, dim[4] = {all, to.dim[1], to.dim[3], to.dim[4]},
            phases = hd_min(b.stride[0], out);
    phase_of(&b, 0, depth, out, &phase);
    if (weight_layers(v, n.in[1], &phase, 0, group) < 0) return false;
    hd_attr_ints(&n, "output_padding", extra, 3, 0);
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)all), first = 0;
    hd_graph_kill(v->g, node);
    for (int64_t r = 0; r < phases; r++) {
        phase_of(&b, r, depth, out, &phase);
        int64_t count = hd_ceil_div(out - r, b.stride[0]),
                one[4] = {images * count, dim[1], dim[2], dim[3]};
        int in[3] = {conv_input(v, n.in[0], q, p, &phase.window, count, group, false),
                     weight_layers(v, n.in[1], &phase, r, group), n.n_in > 2 ? n.in[2] : -1};
        part[r] = hd_volume_tensor(v, y, 4, one);
        int id = hd_graph_node(v->g, HD_IR_convtranspose, n.name, n.n_in, in, 1, &part[r]);
        hd_attr_set_int(v->g, id, "group", group);
        hd_attr_set_ints(v->g, id, "output_padding", 2, extra + 1);
        hd_volume_set_window(v, id, &b);
        if (r == 0) hd_graph_swap_names(v->g, id, node);
        for (int64_t i = 0; i < images * count; i++)
            index[i / count * out + i % count * b.stride[0] + r] = first + i;
        first += images * count;
    }
    int made = part[0];
    if (phases > 1)
        made = hd_volume_gathered(v, hd_volume_join(v, (int)phases, part, 0, dim, y), all, index);
    hd_volume_from_images(v, made, y);
    return true;
}
