/* Features that rows are made of, in the order in which memory has them, for the machine.
 *
 *   product(reshape(transpose(x, P)), w)   ->   product(reshape(transpose(x, Q)), w')
 *
 * x is an image, and a feature is a channel at a place in it. Q has channels last; the columns of
 * w' are those of w in that order. Products are dense and recurrent layers by constant weights.
 *
 * needs: shapes, integers. gives: the same values. destroys: nodes that nothing reads
 *
 * The channels of a pixel lie side by side in memory: in any other order each byte is moved for
 * itself. What flattens an image without a transpose stays: a dense layer reads that as it lies.
 */
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"

enum { MOVES_MOST = 8, IMAGE = 4, CHANNELS = 1 };

/* Dimensions of the image of more than one element, in the order of a tensor's elements. */
struct order {
    int n, dim[IMAGE];
    int64_t size[IMAGE];
};

/* Those that dimension `of` consists of, from the one at *at; false: it splits one. */
static bool skip(const struct order *o, int64_t of, int *at) {
    int64_t p = 1;
    while (p < of && *at < o->n) p *= o->size[(*at)++];
    return p == of;
}

/* The order behind a transpose of a tensor x in this order. */
static bool turn(struct order *o, const struct hd_tensor *x, const struct hd_node *n) {
    const struct order from = *o;
    int64_t perm[HD_MAX_RANK];
    int first[HD_MAX_RANK + 1] = {0}, to = 0;
    for (int d = 0; d < x->rank; d++) {
        first[d + 1] = first[d];
        if (!skip(&from, x->dim[d], &first[d + 1])) return false;
    }
    if (!hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0))
        for (int d = 0; d < x->rank; d++) perm[d] = x->rank - 1 - d;
    for (int d = 0; d < x->rank; d++)
        for (int i = first[perm[d]]; i < first[perm[d] + 1]; i++, to++)
            o->dim[to] = from.dim[i], o->size[to] = from.size[i];
    return true;
}

/* The image that t is made of by moves alone that nothing else reads, one of them a transpose, and
 * the order of t's elements; -1 = there is none. */
static int image_of(const hd_graph *g, int t, struct order *o) {
    int move[MOVES_MOST], n = 0;
    bool turns = false;
    for (int node = g->tensors[t].producer; node >= 0; node = g->tensors[t].producer) {
        const struct hd_node *m = &g->nodes[node];
        if (m->op != HD_IR_reshape && m->op != HD_IR_transpose) break;
        if (n == MOVES_MOST || hd_attr_get(m, "by") || hd_graph_only_user(g, t) < 0) return -1;
        turns = turns || m->op == HD_IR_transpose;
        move[n++] = node, t = m->in[0];
    }
    const struct hd_tensor *x = &g->tensors[t];
    if (!turns || !x->known || x->rank != IMAGE || hd_channels_of(g, t) != CHANNELS) return -1;
    *o = (struct order){0};
    for (int d = 0; d < IMAGE; d++)
        if (x->dim[d] != 1) o->dim[o->n] = d, o->size[o->n++] = x->dim[d];
    while (n--) {
        const struct hd_node *m = &g->nodes[move[n]];
        if (m->op == HD_IR_transpose && !turn(o, &g->tensors[m->in[0]], m)) return -1;
    }
    return t;
}

/* Columns of w, of features in order `from`, in order `to`. */
static int ordered(hd_graph *g, int t, const struct order *from, const struct order *to) {
    const struct hd_tensor w = g->tensors[t];
    int64_t features = w.dim[w.rank - 1], rows = hd_tensor_elems(&w) / features;
    size_t bytes = hd_dtype_bytes(w.dtype);
    char *v = hd_alloc(g->arena, hd_tensor_bytes(&w));
    for (int64_t k = 0; k < features; k++) {
        int64_t at[IMAGE] = {0}, rest = k, source = 0;
        for (int i = to->n; i--; rest /= to->size[i]) at[to->dim[i]] = rest % to->size[i];
        for (int i = 0; i < from->n; i++) source = source * from->size[i] + at[from->dim[i]];
        for (int64_t r = 0; r < rows; r++)
            memcpy(v + (size_t)(r * features + k) * bytes,
                   (const char *)w.data + (size_t)(r * features + source) * bytes, bytes);
    }
    return hd_graph_const(g, hd_sprintf(g->arena, "%s.ordered", w.name), w.dtype, w.rank, w.dim, v);
}

/* Tensor like t: the elements of image x in this order. */
static int moved(hd_graph *g, int x, const struct order *o, int t) {
    const struct hd_tensor image = g->tensors[x], like = g->tensors[t];
    int64_t perm[IMAGE], dim[IMAGE];
    int n = 0;
    for (int d = 0; d < IMAGE; d++)
        if (image.dim[d] == 1) perm[n++] = d;
    for (int i = 0; i < o->n; i++) perm[n++] = o->dim[i];
    for (int d = 0; d < IMAGE; d++) dim[d] = image.dim[perm[d]];
    x = hd_moved(g, HD_IR_transpose, x, IMAGE, dim, "perm", perm, -1);
    return hd_moved(g, HD_IR_reshape, x, like.rank, like.dim, "shape", like.dim, -1);
}

static void look_at(hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    bool product =
        n->op == HD_IR_qgemm || n->op == HD_IR_qlstm || n->op == HD_IR_qgru || n->op == HD_IR_qrnn;
    if (n->dead || !product || !g->tensors[n->in[1]].data) return;
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    struct order all;
    int image = image_of(g, n->in[0], &all), first = 0;
    if (image < 0) return;
    for (int d = 0; d + 1 < x->rank; d++)
        if (!skip(&all, x->dim[d], &first)) return;
    struct order from = {.n = all.n - first}, to = {.n = 0};
    int channels = -1;
    for (int i = 0; i < from.n; i++) {
        from.dim[i] = all.dim[first + i], from.size[i] = all.size[first + i];
        if (from.dim[i] == CHANNELS) channels = i;
    }
    if (channels < 0 || channels == from.n - 1) return;
    for (int i = 0; i < from.n; i++)
        if (i != channels) to.dim[to.n] = from.dim[i], to.size[to.n++] = from.size[i];
    to.dim[to.n] = CHANNELS, to.size[to.n++] = from.size[channels];
    memcpy(all.dim + first, to.dim, (size_t)to.n * sizeof *to.dim);
    memcpy(all.size + first, to.size, (size_t)to.n * sizeof *to.size);
    int w = ordered(g, n->in[1], &from, &to), rows = moved(g, image, &all, n->in[0]);
    g->nodes[node].in[0] = rows, g->nodes[node].in[1] = w;
}

hd_status hd_pass_features(hd_ctx *ctx, hd_graph *g) {
    for (size_t i = 0, n = g->n_nodes; i < n; i++) look_at(g, (int)i);
    hd_pass_dce(g);
    return hd_graph_infer(ctx, g);
}
