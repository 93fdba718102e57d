/* Rewrites that are the same up to rounding: see rewrite.h. */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/pass/rewrite.h"

/* Constant t lists, as a set, the last dimensions of x; *first = the first of them. */
static bool last_axes(const hd_graph *g, int t, const struct hd_tensor *x, int *first) {
    const struct hd_tensor *a = &g->tensors[t];
    int64_t n = hd_tensor_elems(a);
    if (a->dtype != HD_I64 || !x->known || n < 1 || n > x->rank) return false;
    unsigned set = hd_axes_set(x->rank, (int)n, a->data);
    *first = x->rank - (int)n;
    return set == ((1u << x->rank) - 1) - ((1u << *first) - 1);
}

static bool keeps_dims(const struct hd_match *m) {
    for (int i = 0; i < m->n_nodes; i++) {
        const struct hd_node *n = &m->g->nodes[m->node[i]];
        bool reduces = n->op == HD_IR_reducemean || n->op == HD_IR_reducemax ||
                       n->op == HD_IR_reducesum || n->op == HD_IR_reducel2;
        if (reduces && !hd_attr_int(n, "keepdims", 1)) return false;
    }
    return true;
}

/* The squares are of what they should be: pow(d, 2) or mul(d, d). */
static bool squares(const struct hd_match *m) {
    for (int i = 0; i < m->n_nodes; i++) {
        const struct hd_node *n = &m->g->nodes[m->node[i]];
        if (n->op == HD_IR_pow) return hd_const_is(m->g, n->in[1], 2, false);
        if (n->op != HD_IR_mul || n->in[0] != n->in[1]) continue;
        return true;
    }
    return false;
}

/* Constant t lists one dimension of x. */
static bool one_axis(const hd_graph *g, int t, const struct hd_tensor *x, int *axis) {
    const struct hd_tensor *a = &g->tensors[t];
    if (a->dtype != HD_I64 || !x->known || hd_tensor_elems(a) != 1) return false;
    int64_t at = *(const int64_t *)a->data;
    *axis = (int)(at < 0 ? at + x->rank : at);
    return *axis >= 0 && *axis < x->rank;
}

/* ... not the last: channels of an image. */
static bool inner_axis(const hd_graph *g, int t, const struct hd_tensor *x, int *axis) {
    return one_axis(g, t, x, axis) && *axis < x->rank - 1;
}

/* A constant that changes along dimension `axis` of x only, as a vector; -1: it is none. */
static int along(hd_graph *g, int t, const struct hd_tensor *x, int axis) {
    const struct hd_tensor w = g->tensors[t];
    int64_t n = x->dim[axis];
    int at = w.rank - (x->rank - axis); /* that dimension of w */
    if (w.dtype != HD_F32 || at < 0 || w.rank > x->rank || w.dim[at] != n ||
        hd_tensor_elems(&w) != n)
        return -1;
    return hd_graph_const(g, w.name, HD_F32, 1, &n, w.data);
}

/* Over the channels of an image: between transposes. */
static int channels_norm(hd_ctx *ctx, struct hd_match *m, const int of[3], float epsilon, int axis,
                         bool centred) {
    hd_graph *g = m->g;
    const struct hd_tensor x = g->tensors[of[0]];
    int in[3] = {-1, along(g, of[1], &x, axis), of[2] < 0 ? -1 : along(g, of[2], &x, axis)};
    int64_t perm[HD_MAX_RANK], back[HD_MAX_RANK];
    if (in[1] < 0 || (of[2] >= 0 && in[2] < 0)) return -1;
    for (int i = 0; i < x.rank; i++) perm[i] = i < axis ? i : i + 1 < x.rank ? i + 1 : axis;
    for (int i = 0; i < x.rank; i++) back[perm[i]] = i;
    in[0] = hd_match_emit(ctx, m, HD_IR_transpose, 1, &of[0], "perm", x.rank, perm);
    if (in[0] < 0) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_layernorm, in[2] < 0 ? 2 : 3, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_graph_swap_names(g, m->made, m->root);
    hd_attr_set_int(g, m->made, "axis", x.rank - 1);
    if (!centred) hd_attr_set_int(g, m->made, "centred", 0);
    hd_attr_set_float(g, m->made, "epsilon", epsilon);
    if (hd_graph_infer_node(ctx, g, m->made) != HD_OK) return -1;
    return hd_match_emit(ctx, m, HD_IR_transpose, 1, &y, "perm", x.rank, back);
}

/* A scale of 1 for the dimensions of x from `first` on. */
static int ones(hd_graph *g, int x, int first) {
    const struct hd_tensor t = g->tensors[x];
    int64_t n = 1;
    for (int d = first; d < t.rank; d++) n *= t.dim[d];
    float *v = hd_new_array(g->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = 1;
    return hd_graph_const(g, "norm.ones", HD_F32, t.rank - first, t.dim + first, v);
}

int hd_rw_layernorm(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int in[3] = {hd_match_get(m, "x"), hd_match_get(m, "s"), hd_match_get(m, "b")};
    int e = hd_match_get(m, "e"), a = hd_match_get(m, "a"), a2 = hd_match_get(m, "a2"), first = 0,
        other = 0;
    const struct hd_tensor *x = &g->tensors[in[0]], *eps = &g->tensors[e];
    if (x->dtype != HD_F32 || !keeps_dims(m) || !squares(m) || hd_tensor_elems(eps) != 1) return -1;
    float epsilon = *(const float *)eps->data;
    if (in[1] >= 0 && inner_axis(g, a, x, &first) && inner_axis(g, a2, x, &other) && first == other)
        return channels_norm(ctx, m, in, epsilon, first, true);
    if (!last_axes(g, a, x, &first) || !last_axes(g, a2, x, &other) || first != other) return -1;
    if (in[1] < 0) in[1] = ones(g, in[0], first), x = &g->tensors[in[0]];
    for (int i = 1; i < 3 && in[i] >= 0;
         i++) { /* scale and bias are of the last dimensions, no more, no less */
        const struct hd_tensor *w = &g->tensors[in[i]];
        if (w->rank != x->rank - first ||
            memcmp(w->dim, x->dim + first, (size_t)w->rank * sizeof *w->dim))
            return -1;
    }
    int y = hd_match_emit(ctx, m, HD_IR_layernorm, in[2] < 0 ? 2 : 3, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_attr_set_int(g, m->made, "axis", first);
    hd_attr_set_float(g, m->made, "epsilon", epsilon);
    return hd_graph_infer_node(ctx, g, m->made) == HD_OK ? y : -1;
}

/* Without the mean, over the last dimension. */
static int root_mean_square(hd_ctx *ctx, struct hd_match *m, const int in[2], float epsilon) {
    int y = hd_match_emit(ctx, m, HD_IR_layernorm, 2, in, NULL, 0, NULL);
    if (y < 0) return -1;
    hd_attr_set_int(m->g, m->made, "axis", m->g->tensors[in[0]].rank - 1);
    hd_attr_set_int(m->g, m->made, "centred", 0);
    hd_attr_set_float(m->g, m->made, "epsilon", epsilon);
    return hd_graph_infer_node(ctx, m->g, m->made) == HD_OK ? y : -1;
}

int hd_rw_rmsnorm(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int in[2] = {hd_match_get(m, "x"), hd_match_get(m, "s")}, e = hd_match_get(m, "e"), first = 0;
    const struct hd_tensor *x = &g->tensors[in[0]];
    if (!last_axes(g, hd_match_get(m, "a"), x, &first) || first != x->rank - 1 ||
        x->dtype != HD_F32 || !keeps_dims(m) || !squares(m) || hd_tensor_elems(&g->tensors[e]) != 1)
        return -1;
    if (in[1] < 0) in[1] = ones(g, in[0], first);
    if (g->tensors[in[1]].rank != 1 || g->tensors[in[1]].dim[0] != g->tensors[in[0]].dim[first])
        return -1;
    return root_mean_square(ctx, m, in, *(const float *)g->tensors[e].data);
}

/* A root of squares, or none that is written out. */
static bool is_length(const struct hd_match *m) {
    bool roots = false;
    for (int i = 0; i < m->n_nodes; i++) roots |= m->g->nodes[m->node[i]].op == HD_IR_sqrt;
    return !roots || squares(m);
}

/* x / |x| is 1 / sqrt(n) of x by its root mean square. What keeps |x| from 0 does so here, too: it
 * is far below what a row of numbers has. */
int hd_rw_l2norm(hd_ctx *ctx, struct hd_match *m) {
    static const float LEAST = 1e-30f, SMALL = 1e-6f;
    hd_graph *g = m->g;
    int in[3] = {hd_match_get(m, "x"), -1, -1}, a = hd_match_get(m, "a"), e = hd_match_get(m, "e");
    const struct hd_tensor x = g->tensors[in[0]];
    const struct hd_node *root = &g->nodes[m->root];
    int axis = (int)hd_attr_int(root, "axis", -1);
    if (x.dtype != HD_F32 || !x.known || !x.rank || !keeps_dims(m) || !is_length(m)) return -1;
    if (a >= 0 && !one_axis(g, a, &x, &axis)) return -1;
    if (a < 0 && hd_attr_int(root, "p", 2) != 2) return -1;
    if (axis < 0) axis += x.rank;
    float least = 0;
    if (e >= 0) {
        if (g->tensors[e].dtype != HD_F32 || hd_tensor_elems(&g->tensors[e]) != 1) return -1;
        least = *(const float *)g->tensors[e].data;
        if (!(least >= 0 && least <= SMALL)) return -1;
    }
    int64_t n = x.dim[axis], dim[HD_MAX_RANK];
    float *scale = hd_new_array(g->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) scale[i] = 1 / sqrtf((float)n);
    for (int i = axis; i < x.rank; i++) dim[i - axis] = i == axis ? n : 1;
    in[1] = hd_graph_const(g, "norm.length", HD_F32, x.rank - axis, dim, scale);
    float epsilon = fmaxf(LEAST, least * least / (float)n);
    return axis < x.rank - 1 ? channels_norm(ctx, m, in, epsilon, axis, false)
                             : root_mean_square(ctx, m, in, epsilon);
}

int hd_rw_gelu(hd_ctx *ctx, struct hd_match *m) {
    int x = hd_match_get(m, "x");
    int y = hd_match_emit(ctx, m, HD_IR_gelu, 1, &x, NULL, 0, NULL);
    if (y >= 0) {
        bool by_tanh = hd_match_get(m, "t") >= 0;
        hd_attr_set_string(m->g, m->made, "approximate", by_tanh ? "tanh" : "none");
    }
    return y;
}

int hd_rw_softmax(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int x = hd_match_get(m, "x"), a = hd_match_get(m, "a"), b = hd_match_get(m, "a2");
    const struct hd_tensor *t = &g->tensors[a], *u = &g->tensors[b];
    if (!g->tensors[x].known || t->dtype != HD_I64 || u->dtype != HD_I64 || !keeps_dims(m) ||
        hd_tensor_elems(t) != 1 || hd_tensor_elems(u) != 1)
        return -1;
    int rank = g->tensors[x].rank;
    int64_t axis = *(const int64_t *)t->data, other = *(const int64_t *)u->data;
    axis += axis < 0 ? rank : 0;
    other += other < 0 ? rank : 0;
    if (axis != other || axis < 0 || axis >= rank) return -1;
    int y = hd_match_emit(ctx, m, HD_IR_softmax, 1, &x, NULL, 0, NULL);
    if (y >= 0) hd_attr_set_int(g, m->made, "axis", axis);
    return y;
}

/* y = f x + (b - f m), f = s / sqrt(v + epsilon), per channel: into weights and bias. */
int hd_rw_batchnorm(hd_ctx *ctx, struct hd_match *m) {
    static const char *const names[] = {"s", "b", "m", "v", "c"};
    hd_graph *g = m->g;
    const float *of[5] = {NULL};
    int w = hd_match_get(m, "w"), conv = g->tensors[hd_match_get(m, "y")].producer;
    const struct hd_tensor wt = g->tensors[w];
    int64_t n = wt.rank ? wt.dim[0] : 0, per = n ? hd_tensor_elems(&wt) / n : 0;
    for (int i = 0; i < 5; i++) {
        int t = hd_match_get(m, names[i]);
        if (t < 0) continue; /* a convolution without bias */
        if (g->tensors[t].dtype != HD_F32 || hd_tensor_elems(&g->tensors[t]) != n) return -1;
        of[i] = g->tensors[t].data;
    }
    if (wt.dtype != HD_F32 || !n) return -1;
    double epsilon = (double)hd_attr_float(&g->nodes[m->root], "epsilon", 1e-5f);
    float *weight = hd_new_array(g->arena, float, (size_t)(n * per)),
          *bias = hd_new_array(g->arena, float, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double f = (double)of[0][i] / sqrt((double)of[3][i] + epsilon);
        double c = of[4] ? (double)of[4][i] : 0;
        bias[i] = (float)((double)of[1][i] + f * (c - (double)of[2][i]));
        if (!isfinite(f)) return -1;
        for (int64_t k = 0; k < per; k++)
            weight[i * per + k] = (float)(f * (double)((const float *)wt.data)[i * per + k]);
    }
    int in[3] = {hd_match_get(m, "x"), -1, -1};
    in[1] = hd_graph_const(g, wt.name, HD_F32, wt.rank, wt.dim, weight);
    in[2] = hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", wt.name), (int)n, bias);
    const struct hd_tensor y = g->tensors[g->nodes[m->root].out[0]];
    int out = hd_graph_tensor(g, y.name, y.dtype, y.rank, y.dim);
    int id = hd_graph_node(g, HD_IR_conv, g->nodes[conv].name, 3, in, 1, &out);
    hd_pass_copy_attrs(g, id, conv);
    (void)ctx;
    return out;
}

int hd_rw_attention(hd_ctx *ctx, struct hd_match *m) {
    hd_graph *g = m->g;
    int f = hd_match_get(m, "f");
    const struct hd_tensor *p = &g->tensors[hd_match_get(m, "p")];
    const struct hd_node *soft = &g->nodes[p->producer];
    int64_t axis = hd_attr_int(soft, "axis", -1);
    if (!p->known || (axis != -1 && axis != p->rank - 1)) return -1;
    if (f >= 0 && hd_tensor_elems(&g->tensors[f]) != 1) return -1;
    hd_attr_set_string(g, m->root, "attention", hd_match_get(m, "mask") >= 0 ? "masked" : "plain");
    (void)ctx;
    return -1; /* only the mark is new */
}
