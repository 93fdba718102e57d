/* Convolutions, also transposed ones, pools, linear resizes, parts and joins of three dimensions,
 * for integers, as those of two over images.
 *
 *   x [N,C,D,H,W]  ->  images [N*D,C,H,W]; those that a window of kd images meets become one image
 *   of kd*C channels, and the window is one of kh x kw; or one of H*kd rows, window kh*kd x kw
 *
 * needs: shapes; integers between quantize and dequantize, weights constant
 * gives: the same values. What works element by element between two of them works on images, too
 * destroys: nodes that nothing reads
 *
 * The machine has images in memory as [N][D][H][W][C] either way, so only where a window is deeper
 * than one image data moves: all channels of a pixel together, or a whole row. A depth that a
 * window reaches beyond is an image of zero points (of a pool the image beside it).
 */
#include "compiler/pass/volume.h"

#include <string.h>

#include "compiler/ir/memory.h"
#include "compiler/ir/move.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/pattern.h"
#include "runtime/base/num.h"

int hd_volume_tensor(struct volume *v, int like, int rank, const int64_t *dim) {
    const struct hd_tensor *t = &v->g->tensors[like];
    const char *suffix = strstr(t->name, ".images") ? "" : ".images";
    return hd_graph_tensor(v->g, hd_sprintf(v->g->arena, "%s%s", t->name, suffix), t->dtype, rank,
                           dim);
}

int hd_volume_reshaped(struct volume *v, int x, int rank, const int64_t *dim, int y) {
    if (y < 0) y = hd_volume_tensor(v, x, rank, dim);
    int id = hd_graph_node(v->g, HD_IR_reshape, v->g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(v->g, id, "shape", rank, dim);
    return y;
}

int hd_volume_transposed(struct volume *v, int x, const int64_t *perm, int y) {
    const struct hd_tensor t = v->g->tensors[x];
    int64_t dim[HD_MAX_RANK];
    for (int d = 0; d < t.rank; d++) dim[d] = t.dim[perm[d]];
    if (y < 0) y = hd_volume_tensor(v, x, t.rank, dim);
    int id = hd_graph_node(v->g, HD_IR_transpose, v->g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(v->g, id, "perm", t.rank, perm);
    return y;
}

static const int64_t turn[RANK] = {0, 2, 1, 3, 4}; /* its own inverse */

void hd_volume_from_images(struct volume *v, int images, int y) {
    const int64_t *d = v->g->tensors[y].dim, dim[RANK] = {d[0], d[2], d[1], d[3], d[4]};
    v->images[y] = images;
    v->made[y] = true;
    hd_volume_transposed(v, hd_volume_reshaped(v, images, RANK, dim, -1), turn, y);
}

bool hd_volume_is(const hd_graph *g, int t) {
    const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
    return x && x->known && x->rank == RANK && !x->data && hd_tensor_elems(x) > 0;
}

/* The images of a constant. */
static int constant(struct volume *v, int t, const int64_t *dim) {
    const struct hd_tensor c = v->g->tensors[t];
    size_t image = (size_t)(dim[2] * dim[3]) * hd_dtype_bytes(c.dtype);
    uint8_t *to = hd_alloc(v->g->arena, (size_t)(dim[0] * dim[1]) * image + 1), *at = to;
    for (int64_t i = 0; i < dim[0]; i++)
        for (int64_t k = 0; k < dim[1]; k++, at += image) {
            int64_t n = i / c.dim[DEPTH] * dim[1] + k, z = i % c.dim[DEPTH];
            memcpy(at, (const uint8_t *)c.data + (size_t)(n * c.dim[DEPTH] + z) * image, image);
        }
    return hd_graph_const(v->g, hd_sprintf(v->g->arena, "%s.images", c.name), c.dtype, 4, dim, to);
}

int hd_volume_images(struct volume *v, int t) {
    const bool kept = (size_t)t < v->n; /* it is of the graph as it came */
    if (kept && v->images[t] >= 0) return v->images[t];
    struct hd_qparam p;
    int q, maker = v->g->tensors[t].producer;
    if (kept && maker >= 0 && hd_qdq_dequantized(v->g, t, &q, &p) && (size_t)q < v->n) {
        const struct hd_node n = v->g->nodes[maker];
        int in[3] = {hd_volume_images(v, q), n.in[1], n.n_in > 2 ? n.in[2] : -1};
        const struct hd_tensor *x = &v->g->tensors[in[0]];
        int y = hd_volume_tensor(v, t, x->rank, x->dim);
        int id = hd_graph_node(v->g, HD_IR_dequantize, n.name, n.n_in, in, 1, &y);
        hd_qdq_copy_attrs(v->g, id, maker, false);
        return v->images[t] = y;
    }
    const int64_t *d = v->g->tensors[t].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    if (v->g->tensors[t].data) return v->images[t] = constant(v, t, dim);
    int made = hd_volume_reshaped(v, hd_volume_transposed(v, t, turn, -1), 4, dim, -1);
    if (kept) v->images[t] = made;
    return made;
}

bool hd_volume_has_images(const struct volume *v, int t) {
    struct hd_qparam p;
    int q;
    if (t < 0 || (size_t)t >= v->n) return false;
    return v->images[t] >= 0 ||
           (v->g->tensors[t].producer >= 0 && hd_qdq_dequantized(v->g, t, &q, &p) &&
            (size_t)q < v->n && v->images[q] >= 0);
}

bool hd_volume_box(const struct hd_node *n, struct box *b) {
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

void hd_volume_set_window(struct volume *v, int node, const struct box *b) {
    hd_attr_set_ints(v->g, node, "kernel_shape", 2, b->kernel + 1);
    hd_attr_set_ints(v->g, node, "strides", 2, b->stride + 1);
    hd_attr_set_ints(v->g, node, "dilations", 2, b->dilation + 1);
    hd_attr_set_ints(v->g, node, "pads", 4,
                     (int64_t[]){b->before[1], b->before[2], b->after[1], b->after[2]});
}

bool hd_volume_deep(const struct box *b) {
    bool still = true;
    for (int i = 1; i < 3; i++)
        still = still && b->kernel[i] == 1 && b->stride[i] == 1 && !b->before[i] && !b->after[i];
    return still && (b->kernel[0] > 1 || b->stride[0] > 1);
}

void hd_volume_set_deep(struct volume *v, int node, const struct box *b) {
    const struct box rows = {{1, b->kernel[0], 1},
                             {1, b->stride[0], 1},
                             {1, b->dilation[0], 1},
                             {0, b->before[0], 0},
                             {0, b->after[0], 0}};
    hd_volume_set_window(v, node, &rows);
}

int hd_volume_join(struct volume *v, int n, const int *in, int axis, const int64_t *dim, int like) {
    int y = hd_volume_tensor(v, like, 4, dim);
    int id = hd_graph_node(v->g, HD_IR_concat, v->g->tensors[y].name, n, in, 1, &y);
    hd_attr_set_int(v->g, id, "axis", axis);
    return y;
}

int hd_volume_gathered(struct volume *v, int x, int64_t count, const int64_t *index) {
    const struct hd_tensor t = v->g->tensors[x];
    int64_t dim[4] = {count, t.dim[1], t.dim[2], t.dim[3]};
    int in[2] = {x, hd_graph_const(v->g, "depths", HD_I64, 1, &count, index)},
        y = hd_volume_tensor(v, x, 4, dim);
    int id = hd_graph_node(v->g, HD_IR_gather, v->g->tensors[y].name, 2, in, 1, &y);
    hd_attr_set_int(v->g, id, "axis", 0);
    return y;
}

int hd_volume_windows(struct volume *v, int images, int64_t n, int64_t out, const struct box *b,
                      int zero) {
    const struct hd_tensor x = v->g->tensors[images];
    int64_t depth = x.dim[0] / n, count = n * out * b->kernel[0], at = 0, beyond = 0;
    int64_t *index = hd_new_array(v->g->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < out; o++)
            for (int64_t k = 0; k < b->kernel[0]; k++) {
                int64_t z = o * b->stride[0] - b->before[0] + k * b->dilation[0];
                bool inside = z >= 0 && z < depth;
                beyond += !inside;
                index[at++] = inside ? i * depth + z : n * depth;
            }
    int from = images;
    if (beyond) {
        int64_t dim[4] = {1, x.dim[1], x.dim[2], x.dim[3]}, size = dim[1] * dim[2] * dim[3];
        int8_t *zeros = hd_new_array(v->g->arena, int8_t, (size_t)size);
        memset(zeros, zero, (size_t)size);
        int in[2] = {images, hd_graph_const(v->g, "beyond", x.dtype, 4, dim, zeros)};
        dim[0] = x.dim[0] + 1;
        from = hd_volume_join(v, 2, in, 0, dim, images);
    }
    return hd_volume_gathered(v, from, count, index);
}

int hd_volume_dequantised(struct volume *v, int q, int like, const char *name) {
    const struct hd_node n = v->g->nodes[like];
    const struct hd_tensor x = v->g->tensors[q];
    int in[3] = {q, n.in[1], n.n_in > 2 ? n.in[2] : -1};
    int y = hd_graph_tensor(v->g, name, HD_F32, x.rank, x.dim);
    int id = hd_graph_node(v->g, HD_IR_dequantize, name, n.n_in, in, 1, &y);
    hd_qdq_copy_attrs(v->g, id, like, false);
    return y;
}

bool hd_volume_integers(const struct volume *v, int t, int *q, struct hd_qparam *p) {
    return hd_volume_is(v->g, t) && hd_qdq_dequantized(v->g, t, q, p) && hd_volume_is(v->g, *q) &&
           (size_t)*q < v->n;
}

/* Whether operand k can stand beside images of volumes like y; *out: it, as an image. */
static bool beside(struct volume *v, int t, int y, int *out) {
    const struct hd_tensor *x = &v->g->tensors[t], *like = &v->g->tensors[y];
    *out = t;
    if (x->known && hd_tensor_elems(x) == 1 && x->rank <= 4) return true;
    if (!hd_volume_is(v->g, t) || (size_t)t >= v->n) return false;
    for (int d = 0; d < RANK; d++) {
        bool all = x->dim[d] == like->dim[d];
        if (!all && !(x->dim[d] == 1 && (d != DEPTH || like->dim[0] == 1))) return false;
    }
    *out = hd_volume_images(v, t);
    return true;
}

/* Sums and means of channels, of what has images already. */
static bool across(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int y = n.out[0];
    if (n.n_in != 2 || n.in[1] < 0 || !v->g->tensors[n.in[1]].data ||
        !hd_volume_has_images(v, n.in[0]) || !hd_volume_is(v->g, y))
        return false;
    const struct hd_tensor axes = v->g->tensors[n.in[1]], t = v->g->tensors[y];
    int64_t one = 1, axis = 1, dim[4] = {t.dim[0] * t.dim[DEPTH], 1, t.dim[3], t.dim[4]};
    if (hd_axes_set(RANK, (int)hd_tensor_elems(&axes), axes.data) != 1u << 1) return false;
    int in[2] = {hd_volume_images(v, n.in[0]),
                 hd_graph_const(v->g, "axes", HD_I64, 1, &one, &axis)};
    int made = hd_volume_tensor(v, y, 4, dim);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, n.op, n.name, 2, in, 1, &made);
    hd_graph_swap_names(v->g, id, node);
    hd_volume_from_images(v, made, y);
    return true;
}

/* Element by element, of what has images already. */
static bool elementwise(struct volume *v, int node) {
    const struct hd_node n = v->g->nodes[node];
    int in[HD_MAX_OPERANDS], y = n.out[0];
    bool any = false;
    if (!hd_is_elementwise(n.op) || n.op == HD_IR_dequantize || n.n_out != 1 ||
        n.n_in > HD_MAX_OPERANDS || !hd_volume_is(v->g, y))
        return false;
    for (int k = 0; k < n.n_in; k++) any = any || hd_volume_has_images(v, n.in[k]);
    for (int k = 0; any && k < n.n_in; k++) {
        in[k] = n.in[k];
        if (n.in[k] >= 0 && !beside(v, n.in[k], y, &in[k])) return false;
    }
    if (!any) return false;
    const int64_t *d = v->g->tensors[y].dim, dim[4] = {d[0] * d[2], d[1], d[3], d[4]};
    int made = hd_volume_tensor(v, y, 4, dim);
    hd_graph_kill(v->g, node);
    int id = hd_graph_node(v->g, n.op, n.name, n.n_in, in, 1, &made);
    hd_qdq_copy_attrs(v->g, id, node, false);
    hd_graph_swap_names(v->g, id, node);
    hd_volume_from_images(v, made, y);
    return true;
}

hd_status hd_pass_volume(hd_ctx *ctx, hd_graph *g) {
    struct volume v = {g, NULL, hd_new_array(g->arena, bool, g->n_tensors + 1), g->n_tensors};
    int *order = hd_new_array(g->arena, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    bool any = false;
    v.images = hd_new_array(g->arena, int, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_tensors; i++) v.images[i] = -1;
    for (size_t i = 0; i < n; i++) {
        enum hd_ir_op op = g->nodes[order[i]].op;
        bool done = op == HD_IR_conv            ? hd_volume_conv(&v, order[i])
                    : op == HD_IR_convtranspose ? hd_volume_convtranspose(&v, order[i])
                    : op == HD_IR_maxpool       ? hd_volume_maxpool(&v, order[i])
                    : op == HD_IR_avgpool       ? hd_volume_average(&v, order[i])
                    : op == HD_IR_concat        ? hd_volume_concat(&v, order[i])
                    : op == HD_IR_slice         ? hd_volume_slice(&v, order[i])
                    : op == HD_IR_split         ? hd_volume_split(&v, order[i])
                    : op == HD_IR_reducemean    ? across(&v, order[i])
                    : op == HD_IR_reducesum     ? across(&v, order[i])
                    : op == HD_IR_resize        ? hd_volume_resize(&v, order[i])
                                                : elementwise(&v, order[i]);
        any = any || done;
    }
    if (!any) return HD_OK;
    hd_pass_dce(g);
    TRY(hd_graph_infer(ctx, g));
    return hd_pass_patterns(ctx, g, "simplify");
}
