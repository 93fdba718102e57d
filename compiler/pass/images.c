/* Elementwise operations, slices and concats of an image in another shape work on the image itself,
 * for the machine: branches that are weighed, groups of channels that are scaled.
 *
 *   f(reshape(x), ..)   ->   reshape(f(x, ..)),   x [N,C,H,W] of layers of images
 *   the same of a slice, or a concat, of whole channels, rows, ..
 *
 * needs: shapes, integers. gives: the same values. destroys: nodes that nothing reads
 *
 * The channels of an image lie side by side. In a shape that splits them another dimension would
 * have to, and the image would be moved byte by byte, there and back.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "runtime/base/num.h"

/* ELEMENTS_MOST: of a constant that is broadcast. */
enum { ELEMENTS_MOST = 1 << 20, OPERANDS_MOST = 16, CHANNELS_MOST = 2048 };

/* The image that t is in another shape, in which other bytes than its channels lie side by side; -1
 * = none. */
static int image_of(const hd_graph *g, int t) {
    int x = hd_graph_unshaped(g, t);
    const struct hd_tensor *y = &g->tensors[t], *image = &g->tensors[x];
    if (x == t || image->rank != 4 || !y->known || !image->known || y->rank < 3 ||
        y->dim[1] == image->dim[1] || hd_tensor_elems(y) < 1 || hd_channels_of(g, x) != 1)
        return -1;
    return x;
}

/* Dimensions [i0, i1) of shape a are dimensions [j0, j1) of shape b, as few as it goes. */
struct group {
    int i0, i1, j0, j1;
};

/* The group that begins with dimensions i1 and j1 of the last one; false: there are none left. */
static bool next_group(const struct hd_tensor *a, const struct hd_tensor *b, struct group *s) {
    int64_t p = 1, q = 1;
    s->i0 = s->i1, s->j0 = s->j1;
    if (s->i0 == a->rank && s->j0 == b->rank) return false;
    do {
        if (s->i1 < a->rank && (s->j1 == b->rank || p < q || s->i1 == s->i0))
            p *= a->dim[s->i1++];
        else
            q *= b->dim[s->j1++];
    } while (p != q || (s->j1 == s->j0 && s->j1 < b->rank));
    return true;
}

static int reshaped(hd_graph *g, int t, int rank, const int64_t *dim, int y) {
    const struct hd_tensor x = g->tensors[t];
    const char *name = y < 0 ? hd_sprintf(g->arena, "%s.image", x.name) : g->tensors[y].name;
    if (y < 0) y = hd_graph_tensor(g, name, x.dtype, rank, dim);
    int id = hd_graph_node(g, HD_IR_reshape, name, 1, &t, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

/* Constant t, broadcast to the shape of y, in the shape of the image: of one element along other
 * dimensions than the channels in which it does not change. */
static int constant(hd_graph *g, int t, const struct hd_tensor *y, const struct hd_tensor *image) {
    const struct hd_tensor c = g->tensors[t];
    int64_t n = hd_tensor_elems(y), dim[HD_MAX_RANK], inner = n;
    size_t size = hd_dtype_bytes(c.dtype);
    char *all = hd_alloc(g->arena, (size_t)n * size);
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e, at = 0, step = 1;
        for (int d = y->rank - 1, k = c.rank - 1; d >= 0; d--, k--) {
            if (k >= 0 && c.dim[k] > 1) at += rest % y->dim[d] * step;
            if (k >= 0) step *= c.dim[k];
            rest /= y->dim[d];
        }
        memcpy(all + (size_t)e * size, (const char *)c.data + (size_t)at * size, size);
    }
    memcpy(dim, image->dim, sizeof dim);
    for (int d = 0; d < image->rank; d++) { /* n elements, of which `inner` lie in one of dim d */
        bool same = d != 1;
        inner = 1;
        for (int k = d + 1; k < image->rank; k++) inner *= dim[k];
        for (int64_t e = 0; e < n && same; e++) {
            int64_t first = e / (inner * dim[d]) * inner * dim[d] + e % inner;
            same = !memcmp(all + (size_t)e * size, all + (size_t)first * size, size);
        }
        if (!same || dim[d] == 1) continue;
        for (int64_t e = 0; e < n / dim[d]; e++)
            memmove(all + (size_t)e * size,
                    all + (size_t)(e / inner * inner * dim[d] + e % inner) * size, size);
        n /= dim[d], dim[d] = 1;
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.image", c.name), c.dtype, image->rank, dim,
                          all);
}

/* The shape of t beside the image, if it broadcasts to y: each group of dimensions whole or not at
 * all. Of channels any: from[c] is that of t which channel c of the image meets. */
static bool beside(const struct hd_tensor *t, const struct hd_tensor *y,
                   const struct hd_tensor *image, int64_t *dim, int64_t *from) {
    struct group s = {0};
    int skip = y->rank - t->rank;
    while (next_group(image, y, &s)) {
        int64_t all = 1, of_t = 1;
        bool channels = false, alone = true;
        for (int j = s.j0; j < s.j1; j++) all *= y->dim[j], of_t *= j < skip ? 1 : t->dim[j - skip];
        for (int i = s.i0; i < s.i1; i++) {
            channels = channels || i == 1, alone = alone && (i == 1 || image->dim[i] == 1);
            dim[i] = of_t == 1 ? 1 : image->dim[i];
        }
        if (channels && alone) dim[1] = of_t;
        if (!(channels && alone) && (channels || (of_t != 1 && of_t != all))) return false;
        for (int64_t c = 0; channels && c < image->dim[1]; c++) {
            int64_t rest = c, step = 1;
            from[c] = 0;
            for (int j = s.j1 - 1; j >= s.j0; j--) {
                int64_t size = j < skip ? 1 : t->dim[j - skip];
                from[c] += (size > 1 ? rest % y->dim[j] : 0) * step;
                rest /= y->dim[j], step *= size;
            }
        }
    }
    return true;
}

/* What t has copies of, as dimension 1, by a product by ones (qdq_pair.c); t: there is no such. */
static int copied(const hd_graph *g, int t) {
    const struct hd_node *n = g->tensors[t].producer < 0 ? NULL : &g->nodes[g->tensors[t].producer];
    if (!n || n->op != HD_IR_qconv || g->tensors[n->in[0]].dim[1] != 1) return t;
    const struct hd_tensor *w = &g->tensors[n->in[1]], *b = &g->tensors[n->in[2]];
    const float *scale = g->tensors[n->in[3]].data;
    bool same = w->data && b->data && scale && hd_tensor_elems(w) == w->dim[0] &&
                hd_tensor_elems(&g->tensors[n->in[3]]) == 1 && *scale == 1 &&
                hd_attr_int(n, "x_zp", 0) == hd_attr_int(n, "y_zp", 0) &&
                hd_attr_int(n, "hi", 127) - hd_attr_int(n, "lo", -128) == UINT8_MAX;
    for (int64_t i = 0; same && i < w->dim[0]; i++)
        same = ((const int8_t *)w->data)[i] == 1 && !((const int32_t *)b->data)[i];
    return same ? n->in[0] : t;
}

/* Channel c of image y is channel from[c] of image t: copies of all of them lie side by side, else
 * a product. */
static void copy_channels(hd_graph *g, int t, const int64_t *from, int y) {
    const int64_t c = g->tensors[t].dim[1], all = g->tensors[y].dim[1];
    const char *name = g->tensors[y].name;
    int in[OPERANDS_MOST];
    bool whole = all % c == 0 && all / c <= OPERANDS_MOST;
    for (int64_t i = 0; i < all; i++) whole = whole && from[i] == i % c;
    if (!whole || c == 1) {
        hd_move_channels(g, name, t, from, y);
        return;
    }
    for (int64_t i = 0; i < all / c; i++) in[i] = t;
    int id = hd_graph_node(g, HD_IR_concat, name, (int)(all / c), in, 1, &y);
    hd_attr_set_int(g, id, "axis", 1);
}

/* Operand t of an operation whose result is y, beside the image; -1: there is no such tensor. */
static int operand(hd_graph *g, int t, const struct hd_tensor *y, const struct hd_tensor *image,
                   bool make) {
    int64_t dim[HD_MAX_RANK] = {0}, channel[CHANNELS_MOST];
    int from = hd_graph_unshaped(g, t);
    if (hd_same_shape(&g->tensors[from], image)) return from;
    t = copied(g, t);
    const struct hd_tensor x = g->tensors[t];
    if (x.data) return make ? constant(g, t, y, image) : t;
    if (hd_tensor_elems(&x) == hd_tensor_elems(y) || image->dim[1] > CHANNELS_MOST ||
        (x.dtype != HD_I8 && x.dtype != HD_U8) || !beside(&x, y, image, dim, channel))
        return -1;
    if (!make) return t;
    t = reshaped(g, t, image->rank, dim, -1);
    if (dim[1] == image->dim[1]) return t;
    const char *name = hd_sprintf(g->arena, "%s.copies", x.name);
    dim[1] = image->dim[1];
    int copies = hd_graph_tensor(g, name, x.dtype, image->rank, dim);
    copy_channels(g, t, channel, copies);
    return copies;
}

/* A node like n of these operands, with a result of these dimensions; reshaped to what n made. */
static void replace(hd_graph *g, int node, int n_in, const int *in, int rank, const int64_t *dim) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.image", y.name), y.dtype, rank, dim);
    hd_qdq_instead(g, node, n.op, n_in, in, made);
    reshaped(g, made, y.rank, y.dim, n.out[0]);
}

static bool elementwise(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    bool pair = hd_is_pair(n.op);
    int in[2], x = -1;
    if (!pair && n.op != HD_IR_qtable && n.op != HD_IR_qrescale) return false;
    for (int k = 0; k <= pair && x < 0; k++)
        if (hd_same_shape(&g->tensors[n.in[k]], &y)) x = image_of(g, n.in[k]);
    bool fixed = pair && (g->tensors[n.in[0]].data || g->tensors[n.in[1]].data);
    if (x < 0 || (fixed && hd_tensor_elems(&y) > ELEMENTS_MOST)) return false;
    const struct hd_tensor image = g->tensors[x];
    for (int make = 0; make < 2; make++)
        for (int k = 0; k < n.n_in; k++) {
            in[k] = k <= pair ? operand(g, n.in[k], &y, &image, make) : n.in[k];
            if (in[k] < 0) return false;
        }
    replace(g, node, n.n_in, in, image.rank, image.dim);
    return true;
}

/* Which dimension of the image is axis `axis` of t, with nothing in front of it; and how many of
 * its elements one of the axis is. -1 = none is. */
static int axis_of(const struct hd_tensor *t, const struct hd_tensor *image, int axis,
                   int64_t *each) {
    struct group s = {0};
    while (next_group(image, t, &s)) {
        int at = -1;
        if (axis < s.j0 || axis >= s.j1) continue;
        for (int i = s.i0; i < s.i1; i++)
            if (image->dim[i] > 1) at = at < 0 ? i : HD_MAX_RANK;
        for (int j = s.j0; j < axis; j++)
            if (t->dim[j] > 1) return -1;
        if (at < 0 || at == HD_MAX_RANK) return -1;
        *each = image->dim[at] / t->dim[axis];
        return at;
    }
    return -1;
}

static int number(hd_graph *g, const char *name, int64_t v) {
    int64_t one = 1;
    return hd_graph_const(g, name, HD_I64, 1, &one, &v);
}

static bool slice(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if (n.op != HD_IR_slice || n.n_in < 4) return false;
    const struct hd_tensor t = g->tensors[n.in[0]], y = g->tensors[n.out[0]];
    int64_t v[3] = {0, 0, 1}, each; /* first, axis, step */
    for (int i = 0; i < 3; i++) {
        int from = (int[]){n.in[1], n.in[3], n.n_in > 4 ? n.in[4] : -1}[i];
        if (from < 0 && i == 2) continue;
        const struct hd_tensor *c = from < 0 ? NULL : &g->tensors[from];
        if (!c || !c->data || c->dtype != HD_I64 || hd_tensor_elems(c) != 1) return false;
        v[i] = *(const int64_t *)c->data;
    }
    int x = image_of(g, n.in[0]), axis = (int)(v[1] < 0 ? v[1] + t.rank : v[1]);
    if (x < 0 || v[2] != 1 || axis < 0 || axis >= t.rank) return false;
    int64_t first = v[0] < 0 ? v[0] + t.dim[axis] : v[0], dim[HD_MAX_RANK];
    if (first < 0 || first + y.dim[axis] > t.dim[axis]) return false;
    const struct hd_tensor image = g->tensors[x];
    int at = axis_of(&t, &image, axis, &each);
    if (at < 0) return false;
    memcpy(dim, image.dim, sizeof dim), dim[at] = y.dim[axis] * each;
    int in[4] = {x, number(g, "image.from", first * each),
                 number(g, "image.to", first * each + dim[at]), number(g, "image.axis", at)};
    replace(g, node, 4, in, image.rank, dim);
    return true;
}

static bool concat(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor y = g->tensors[n.out[0]];
    int in[OPERANDS_MOST], axis = (int)hd_attr_int(&n, "axis", 0), at = -1;
    int64_t dim[HD_MAX_RANK], sum = 0, each;
    if (n.op != HD_IR_concat || n.n_in > OPERANDS_MOST) return false;
    if (axis < 0) axis += y.rank;
    for (int k = 0; k < n.n_in; k++) {
        const struct hd_tensor *t = &g->tensors[n.in[k]];
        in[k] = image_of(g, n.in[k]);
        if (in[k] < 0) return false;
        const struct hd_tensor *x = &g->tensors[in[k]];
        int here = axis_of(t, x, axis, &each);
        if (here < 0 || (k && here != at)) return false;
        at = here, sum += x->dim[at];
        for (int d = 0; k && d < 4; d++)
            if (d != at && dim[d] != x->dim[d]) return false;
        memcpy(dim, x->dim, sizeof dim);
    }
    dim[at] = sum;
    replace(g, node, n.n_in, in, 4, dim);
    hd_attr_set_int(g, g->tensors[hd_graph_unshaped(g, n.out[0])].producer, "axis", at);
    return true;
}

hd_status hd_pass_images(hd_ctx *ctx, hd_graph *g) {
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        if (nd->n_out != 1 || nd->out[0] < 0 || !nd->n_in || nd->in[0] < 0 ||
            !g->tensors[nd->out[0]].known)
            continue;
        if (elementwise(g, order[i]) || slice(g, order[i]) || concat(g, order[i])) any = true;
    }
    if (!any) return HD_OK;
    for (size_t i = 0; i < g->n_nodes; i++) { /* back in the shape of the image */
        const struct hd_node *nd = &g->nodes[i];
        if (nd->dead || nd->op != HD_IR_reshape || hd_graph_is_output(g, nd->out[0])) continue;
        int t = hd_graph_unshaped(g, nd->out[0]);
        if (hd_same_shape(&g->tensors[t], &g->tensors[nd->out[0]]))
            hd_graph_replace(g, nd->out[0], t);
    }
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
