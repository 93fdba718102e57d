/* Norms of images whose rows are longer than the machine's, or channels of one dimension, by means
 * and a quotient:
 *
 *   m = mean x, v = mean (x - m)^2, over pixels, then over the channels of a group
 *   y = (x - m) / sqrt(v + epsilon) * scale + bias
 *
 * The mean over channels of a group is a 1x1 convolution of the means of channels, which gives each
 * channel that of its group. Exporters flatten an image to rows of groups, [N,groups,L], normalise
 * these, and make it an image again; that is the norm of the image. Shorter rows are a layer norm
 * (instance.c): one rounding less. */
#include <math.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/quantize/quantize.h"

enum {
    LONGEST = 1008, /* row of the smallest machine's layer norm */
    VECTOR = 16     /* pixels that VX turns to a row at once; others are moved byte by byte */
};

struct moments {
    hd_graph *g;
    struct hd_tensor x;
    const char *name;
    int64_t dim[HD_MAX_RANK]; /* of means: [N,C,1..] */
    int axes, group;          /* of pixels; weights [C,C,1..], -1: each channel is a group */
};

static int emit(struct moments *m, enum hd_ir_op op, const char *suffix, const int64_t *dim, int a,
                int b) {
    int y = hd_graph_tensor(m->g, hd_sprintf(m->g->arena, "%s.%s", m->name, suffix), HD_F32,
                            m->x.rank, dim);
    hd_graph_node(m->g, op, m->g->tensors[y].name, b < 0 ? 1 : 2, (int[]){a, b}, 1, &y);
    return y;
}

static int mean(struct moments *m, const char *suffix, int x) {
    int y = emit(m, HD_IR_reducemean, suffix, m->dim, x, m->axes);
    return m->group < 0 ? y : emit(m, HD_IR_conv, "group", m->dim, y, m->group);
}

static int group_weights(struct moments *m, int64_t channels, int64_t groups) {
    int64_t n = channels / groups, dim[HD_MAX_RANK] = {channels, channels, 1, 1, 1};
    float *w = hd_new_array(m->g->arena, float, (size_t)(channels * channels));
    for (int64_t o = 0; o < channels; o++)
        for (int64_t i = o / n * n; i < o / n * n + n; i++) w[o * channels + i] = 1 / (float)n;
    return hd_graph_const(m->g, "norm.group", HD_F32, m->x.rank, dim, w);
}

/* A factor or summand: one number for each channel or group, or for each element of a sample. -1:
 * it is none of these. */
static int along(struct moments *m, int t, int64_t groups) {
    const struct hd_tensor w = m->g->tensors[t];
    int64_t channels = m->x.dim[1], n = hd_tensor_elems(&w), dim[HD_MAX_RANK], all = 1;
    const float *v = w.data;
    for (int d = 0; d < m->x.rank; d++) dim[d] = d == 1 ? channels : 1;
    for (int d = 1; d < m->x.rank; d++) all *= m->x.dim[d];
    if (!v || w.dtype != HD_F32) return -1;
    bool one = n > 0;
    for (int64_t i = 1; i < n; i++) one = one && v[i] == v[0];
    if (n == all && !one) {
        dim[0] = 1;
        for (int d = 1; d < m->x.rank; d++) dim[d] = m->x.dim[d];
        return hd_graph_const(m->g, w.name, HD_F32, m->x.rank, dim, v);
    }
    if (!one && n != channels && n != groups) return -1;
    float *per = hd_new_array(m->g->arena, float, (size_t)channels + 1);
    for (int64_t c = 0; c < channels; c++) per[c] = v[one ? 0 : c / (channels / n)];
    return hd_graph_const(m->g, w.name, HD_F32, m->x.rank, dim, per);
}

/* The image whose rows of groups node n normalises, an image again behind it, *out_y; -1: none. */
static int image_of(const hd_graph *g, const struct hd_node *n, int *out_y) {
    const struct hd_tensor *rows = &g->tensors[n->in[0]];
    int p = rows->producer, u = hd_graph_only_user(g, n->out[0]);
    if (n->op != HD_IR_instancenorm || rows->rank != 3 || p < 0 || u < 0) return -1;
    if (g->nodes[p].op != HD_IR_reshape || g->nodes[u].op != HD_IR_reshape) return -1;
    int x = g->nodes[p].in[0], y = g->nodes[u].out[0];
    const struct hd_tensor *t = &g->tensors[x], *s = &g->tensors[y];
    bool same = t->known && s->known && t->rank >= 3 && t->rank <= 5 && s->rank == t->rank &&
                !memcmp(s->dim, t->dim, (size_t)t->rank * sizeof *t->dim);
    if (!same || t->dim[0] != rows->dim[0] || t->dim[1] % rows->dim[1]) return -1;
    *out_y = y;
    return x;
}

/* Groups of channels that have one mean; 0: it is no norm of an image that is that long, or whose
 * channels the machine cannot make rows of. */
static int64_t groups_of(const hd_graph *g, const struct hd_node *n) {
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    int64_t axis = hd_attr_int(n, "axis", -1), groups = 1;
    if (!x->known || x->dtype != HD_F32 || x->producer < 0 || x->rank < 3 || x->rank > 5) return 0;
    if (n->op == HD_IR_layernorm) {
        if (n->n_out != 1 || !hd_attr_int(n, "centred", 1)) return 0;
        axis += axis < 0 ? x->rank : 0;
        groups = axis == 1 ? 1 : axis == 2 && x->rank == 4 ? x->dim[1] : 0;
    } else if (n->op == HD_IR_groupnorm) {
        groups = hd_attr_int(n, "num_groups", 1);
    } else if (n->op == HD_IR_instancenorm) {
        groups = x->dim[1];
    } else {
        return 0;
    }
    if (groups < 1 || x->dim[0] < 1 || x->dim[1] % groups) return 0;
    int y, image = image_of(g, n, &y), of = image < 0 ? n->in[0] : image;
    const struct hd_tensor *t = &g->tensors[of];
    bool turns = t->rank == 4 || hd_made_as_image(g, of), each = groups == t->dim[1];
    bool bytes = n->op != HD_IR_layernorm && hd_tensor_elems(t) / t->dim[0] / t->dim[1] % VECTOR;
    bool longer = hd_tensor_elems(x) / x->dim[0] / groups > LONGEST;
    return longer || (turns && (bytes || (t->rank == 3 && each))) ? groups : 0;
}

bool hd_quant_moments(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    struct moments m = {.g = g, .x = g->tensors[n.in[0]], .name = g->tensors[n.out[0]].name};
    int64_t groups = groups_of(g, &n), axes[3] = {2, 3, 4};
    if (!groups) return false;
    int x = n.in[0], bias = -1, y = n.out[0], image = image_of(g, &n, &y);
    if (image >= 0) x = image, m.x = g->tensors[x], m.name = g->tensors[y].name;
    int64_t sp = m.x.rank - 2;
    int scale = along(&m, n.in[1], groups);
    if (n.n_in > 2 && n.in[2] >= 0) bias = along(&m, n.in[2], groups);
    if (scale < 0 || (n.n_in > 2 && n.in[2] >= 0 && bias < 0)) return false;
    for (int d = 0; d < m.x.rank; d++) m.dim[d] = d < 2 ? m.x.dim[d] : 1;
    m.axes = hd_graph_const(g, "norm.pixels", HD_I64, 1, &sp, axes);
    m.group = groups == m.x.dim[1] ? -1 : group_weights(&m, m.x.dim[1], groups);
    float epsilon = hd_attr_float(&n, "epsilon", 1e-5f);
    int apart = emit(&m, HD_IR_sub, "apart", m.x.dim, x, mean(&m, "mean", x));
    int variance = mean(&m, "variance", emit(&m, HD_IR_mul, "square", m.x.dim, apart, apart));
    variance = emit(&m, HD_IR_add, "above", m.dim, variance,
                    hd_graph_const(g, "norm.epsilon", HD_F32, 0, NULL, &epsilon));
    int root = emit(&m, HD_IR_sqrt, "deviation", m.dim, variance, -1);
    int norm = emit(&m, HD_IR_div, "norm", m.x.dim, apart, root), in[2] = {norm, scale};
    hd_graph_swap_names(g, g->tensors[norm].producer, node);
    if (image >= 0) hd_graph_kill(g, g->tensors[y].producer);
    hd_graph_kill(g, node);
    if (bias >= 0) in[0] = emit(&m, HD_IR_mul, "scaled", m.x.dim, norm, scale), in[1] = bias;
    hd_graph_node(g, bias < 0 ? HD_IR_mul : HD_IR_add, m.name, 2, in, 1, &y);
    return true;
}
