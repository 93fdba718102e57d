/* Instance, group and layer normalisation of several dimensions by operations that have integer
 * forms.
 *
 *   instancenorm(x) = (x - mean) / deviation * scale[c] + bias[c], mean and deviation over each
 * channel
 *
 * A channel (a group of channels) is a row: layer norm over rows of [N,C,..] or [N,groups,..]
 * without scale and bias, then batch normalisation for these, which goes into a layer or becomes
 * one. The machine turns the image into rows and back (compiler/kind/move.c). */
#include "compiler/quantize/quantize.h"

static int reshaped(hd_graph *g, int from, const char *name, int rank, const int64_t *dim) {
    int y = hd_graph_tensor(g, name, HD_F32, rank, dim);
    int id = hd_graph_node(g, HD_IR_reshape, name, 1, &from, 1, &y);
    hd_attr_set_ints(g, id, "shape", rank, dim);
    return y;
}

static int filled(hd_graph *g, const char *name, int64_t n, float value) {
    float *v = hd_new_array(g->arena, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = value;
    return hd_graph_const_f32(g, name, (int)n, v);
}

/* One number per channel, from one per channel or per group; *out_plain: all are `neutral`. -1: it
 * is no constant of such a length. */
static int per_channel(hd_graph *g, int t, int64_t channels, int64_t groups, float neutral,
                       bool *out_plain) {
    const struct hd_tensor w = g->tensors[t];
    int64_t n = hd_tensor_elems(&w);
    if (!w.data || w.dtype != HD_F32 || (n != channels && n != groups)) return -1;
    float *v = hd_new_array(g->arena, float, (size_t)channels + 1);
    for (int64_t i = 0; i < channels; i++) {
        v[i] = ((const float *)w.data)[i / (channels / n)];
        *out_plain = *out_plain && v[i] == neutral;
    }
    return hd_graph_const_f32(g, w.name, (int)channels, v);
}

bool hd_quant_instance(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]];
    if (!x.known || x.dtype != HD_F32 || x.producer < 0 || x.rank < 3) return false;
    int64_t channels = x.dim[1], elems = hd_tensor_elems(&x);
    int64_t rows = n.op == HD_IR_groupnorm ? hd_attr_int(&n, "num_groups", 1) : channels;
    if (rows < 1 || channels % rows || elems < 1) return false;
    bool plain = true;
    int scale = per_channel(g, n.in[1], channels, rows, 1, &plain);
    int bias = per_channel(g, n.in[2], channels, rows, 0, &plain);
    if (scale < 0 || bias < 0) return false;
    int64_t length = elems / x.dim[0] / rows, dim[3] = {x.dim[0], rows, length};
    int y = n.out[0],
        norm[3] = {n.in[0], filled(g, "norm.ones", length, 1), filled(g, "norm.zeros", length, 0)};
    bool is_rows = x.rank == 3 && rows == channels;
    const char *name = g->tensors[y].name;
    hd_graph_kill(g, node);
    if (!is_rows) norm[0] = reshaped(g, n.in[0], hd_sprintf(g->arena, "%s.rows", name), 3, dim);
    int made = is_rows && plain
                   ? y
                   : hd_graph_tensor(g, hd_sprintf(g->arena, "%s.norm", name), HD_F32, 3, dim);
    int id = hd_graph_node(g, HD_IR_layernorm, n.name, 3, norm, 1, &made);
    hd_attr_set_int(g, id, "axis", 2);
    hd_attr_set_float(g, id, "epsilon", hd_attr_float(&n, "epsilon", 1e-5f));
    hd_graph_swap_names(g, id, node);
    if (made == y) return true;
    if (plain) {
        id = hd_graph_node(g, HD_IR_reshape, name, 1, &made, 1, &y);
        hd_attr_set_ints(g, id, "shape", x.rank, x.dim);
        return true;
    }
    if (!is_rows) made = reshaped(g, made, hd_sprintf(g->arena, "%s.image", name), x.rank, x.dim);
    int in[5] = {made, scale, bias, filled(g, "norm.mean", channels, 0),
                 filled(g, "norm.variance", channels, 1)};
    id = hd_graph_node(g, HD_IR_batchnorm, hd_sprintf(g->arena, "%s.affine", name), 5, in, 1, &y);
    hd_attr_set_float(g, id, "epsilon", 0);
    return true;
}

/* A constant of n numbers as one row; t < 0 is none: `neutral`; *out_even: all are the same. -1: t
 * is no such constant. */
static int as_row(hd_graph *g, int t, int64_t n, float neutral, bool *out_even) {
    if (t < 0) return filled(g, "norm.row", n, neutral);
    const struct hd_tensor w = g->tensors[t];
    const float *v = w.data;
    if (!v || w.dtype != HD_F32 || hd_tensor_elems(&w) != n) return -1;
    for (int64_t i = 0; i < n; i++) *out_even = *out_even && v[i] == v[0];
    return hd_graph_const_f32(g, w.name, (int)n, v);
}

/* Channels last, as the machine keeps images, or second again (back), into `to` or a new tensor. */
static int turned(hd_graph *g, int from, int to, const char *name, bool back) {
    const struct hd_tensor x = g->tensors[from];
    int64_t perm[HD_MAX_RANK] = {0}, dim[HD_MAX_RANK];
    for (int i = 1; i < x.rank; i++)
        perm[i] = back ? (i == 1 ? x.rank - 1 : i - 1) : i % (x.rank - 1) + 1;
    for (int i = 0; i < x.rank; i++) dim[i] = x.dim[perm[i]];
    if (to < 0) to = hd_graph_tensor(g, name, HD_F32, x.rank, dim);
    int id = hd_graph_node(g, HD_IR_transpose, name, 1, &from, 1, &to);
    hd_attr_set_ints(g, id, "perm", x.rank, perm);
    return to;
}

bool hd_quant_volume_norm(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor x = g->tensors[n.in[0]];
    int64_t axis = hd_attr_int(&n, "axis", -1), dim[3] = {1, 1, 1};
    int in = n.in[0], y = n.out[0];
    if (axis < 0) axis += x.rank;
    if (!x.known || x.dtype != HD_F32 || n.n_out != 1 || axis < 0 || axis >= x.rank - 1)
        return false;
    for (int i = 0; i < x.rank; i++) dim[i >= axis ? 2 : i > 0] *= x.dim[i];
    if (hd_tensor_elems(&x) < 1) return false;
    bool even = true;
    int scale = as_row(g, n.in[1], dim[2], 1, &even);
    int bias = as_row(g, n.n_in > 2 ? n.in[2] : -1, dim[2], 0, &even);
    if (scale < 0 || bias < 0) return false;
    bool turns = even && axis == 1 && x.dim[1] > 1; /* of a sum no order matters */
    const char *name = g->tensors[y].name;
    hd_graph_kill(g, node);
    if (turns) in = turned(g, in, -1, hd_sprintf(g->arena, "%s.last", name), false);
    const struct hd_tensor image = g->tensors[in];
    int norm[3] = {reshaped(g, in, hd_sprintf(g->arena, "%s.rows", name), 3, dim), scale, bias};
    int made = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.norm", name), HD_F32, 3, dim);
    int id = hd_graph_node(g, HD_IR_layernorm, n.name, 3, norm, 1, &made);
    hd_attr_set_int(g, id, "axis", 2);
    hd_attr_set_int(g, id, "centred", hd_attr_int(&n, "centred", 1));
    hd_attr_set_float(g, id, "epsilon", hd_attr_float(&n, "epsilon", 1e-5f));
    hd_graph_swap_names(g, id, node);
    if (turns) {
        const char *last = hd_sprintf(g->arena, "%s.image", name);
        turned(g, reshaped(g, made, last, image.rank, image.dim), y, name, true);
        return true;
    }
    id = hd_graph_node(g, HD_IR_reshape, name, 1, &made, 1, &y);
    hd_attr_set_ints(g, id, "shape", x.rank, x.dim);
    return true;
}
