/* Operations without an integer form of their own, as some that have one: a factor and summand per
 * channel that no layer takes in (batch normalisation in front of an activation, as in DenseNet) is
 * a depthwise convolution of one tap, prelu a sum of two functions. Only behind a layer: in front
 * of the network they stay float, where the integers begin.
 */
#include <math.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/qdq.h"
#include "compiler/quantize/affine.h"

bool *hd_quant_behind_layers(const hd_graph *g, hd_arena *a, const int *order, size_t n) {
    bool *behind = hd_new_array(a, bool, g->n_tensors + 1);
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        bool is = hd_quant_weights(g, order[i]) >= 0;
        for (int k = 0; k < nd->n_in; k++) is = is || (nd->in[k] >= 0 && behind[nd->in[k]]);
        for (int k = 0; k < nd->n_out; k++)
            if (nd->out[k] >= 0) behind[nd->out[k]] = is;
    }
    return behind;
}

bool *hd_quant_ahead_of_layers(const hd_graph *g, hd_arena *a, const int *order, size_t n) {
    bool *ahead = hd_new_array(a, bool, g->n_tensors + 1);
    while (n--) {
        const struct hd_node *nd = &g->nodes[order[n]];
        bool is = nd->op == HD_IR_conv || nd->op == HD_IR_convtranspose || nd->op == HD_IR_gemm ||
                  nd->op == HD_IR_matmul || nd->op == HD_IR_lstm || nd->op == HD_IR_gru ||
                  nd->op == HD_IR_rnn;
        for (int k = 0; k < nd->n_out; k++) is = is || (nd->out[k] >= 0 && ahead[nd->out[k]]);
        for (int k = 0; k < nd->n_in && is; k++)
            if (nd->in[k] >= 0) ahead[nd->in[k]] = true;
    }
    return ahead;
}

/* y = w[c] * x + b[c] as a convolution; -1: a value leaves binary32. b NULL: none. */
static int depthwise(hd_graph *g, const char *name, int x, const double *w, const double *b,
                     int y) {
    const struct hd_tensor t = g->tensors[x];
    int64_t dim[5] = {t.dim[1], 1, 1, 1, 1}, ones[3] = {1, 1, 1};
    size_t n = (size_t)t.dim[1];
    float *weight = hd_new_array(g->arena, float, n + 1),
          *bias = hd_new_array(g->arena, float, n + 1);
    for (size_t i = 0; i < n; i++) {
        weight[i] = (float)w[i];
        bias[i] = b ? (float)b[i] : 0;
        if (!isfinite(weight[i]) || !isfinite(bias[i])) return -1;
    }
    int in[3] = {
        x, hd_graph_const(g, hd_sprintf(g->arena, "%s.weight", name), HD_F32, t.rank, dim, weight),
        hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", name), (int)n, bias)};
    int id = hd_graph_node(g, HD_IR_conv, name, 3, in, 1, &y);
    hd_attr_set_ints(g, id, "kernel_shape", t.rank - 2, ones);
    hd_attr_set_int(g, id, "group", t.dim[1]);
    return id;
}

static bool has_image(const struct hd_tensor *x) { /* channels on axis 1 of 1 to 3 dimensions */
    return x->known && !x->data && x->dtype == HD_F32 && x->rank >= 3 && x->rank <= 5 &&
           x->dim[1] > 0;
}

/* Batch normalisation, or one factor or summand for each channel; one for all is a function. */
static bool scale_channels(hd_graph *g, hd_arena *a, int node) {
    const struct hd_node n = g->nodes[node];
    int x = n.in[0];
    if (n.op != HD_IR_batchnorm) {
        bool summed = n.op == HD_IR_add || n.op == HD_IR_mul || n.op == HD_IR_sub;
        if (!summed && n.op != HD_IR_div) return false;
        if (g->tensors[x].data) x = n.in[1];
        const struct hd_tensor *by = &g->tensors[n.in[n.in[0] == x ? 1 : 0]];
        if (!by->data || hd_tensor_elems(by) < 2 || hd_in_rows(g, x)) return false;
    }
    const struct hd_tensor *t = &g->tensors[x], *y = &g->tensors[n.out[0]];
    if (n.n_out != 1 || !has_image(t) || !y->known || hd_tensor_elems(y) != hd_tensor_elems(t) ||
        y->rank != t->rank)
        return false;
    struct hd_affine f = hd_affine_new(a, t->dim[1]);
    if (!hd_affine_of(g, &n, x, 1, &f)) return false;
    int id = depthwise(g, n.name, x, f.a, f.b, n.out[0]);
    if (id < 0) return false;
    hd_graph_kill(g, node);
    hd_graph_swap_names(g, id, node);
    return true;
}

/* A tensor like t, named after y. */
static int part_like(hd_graph *g, const struct hd_tensor *t, int y, const char *name) {
    int64_t dim[HD_MAX_RANK];
    int rank = t->rank;
    memcpy(dim, t->dim, sizeof dim);
    return hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", g->tensors[y].name, name), HD_F32, rank,
                           dim);
}

/* y = x + relu((slope - 1) * x), where no slope is above 1; else relu(x) - slope * relu(-x). Slopes
 * are finite, and are changed. The last node. */
static int prelu_sum(hd_graph *g, const struct hd_node *n, double *slope, int y) {
    const struct hd_tensor t = g->tensors[n->in[0]];
    bool small = true;
    for (int64_t c = 0; c < t.dim[1]; c++) small = small && slope[c] <= 1;
    for (int64_t c = 0; c < t.dim[1]; c++) slope[c] = small ? slope[c] - 1 : -slope[c];
    int part[2] = {n->in[0], part_like(g, &t, y, "slope")}, of = n->in[0];
    const char *name = hd_sprintf(g->arena, "%s.slope", n->name);
    if (!small) {
        int minus = part_like(g, &t, y, "minus");
        part[0] = part_like(g, &t, y, "positive"), of = part_like(g, &t, y, "negative");
        hd_graph_node(g, HD_IR_relu, g->tensors[part[0]].name, 1, n->in, 1, &part[0]);
        hd_graph_node(g, HD_IR_neg, g->tensors[minus].name, 1, n->in, 1, &minus);
        hd_graph_node(g, HD_IR_relu, g->tensors[of].name, 1, &minus, 1, &of);
    }
    int scaled = small ? part_like(g, &t, y, "scaled") : part[1];
    int product = depthwise(g, name, of, slope, NULL, scaled);
    HD_ASSERT(product >= 0);
    if (small) hd_graph_node(g, HD_IR_relu, g->tensors[part[1]].name, 1, &scaled, 1, &part[1]);
    return hd_graph_node(g, HD_IR_add, n->name, 2, part, 1, &y);
}

/* With one slope for all it is leakyrelu. */
static bool prelu(hd_graph *g, hd_arena *a, int node, bool behind) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor *t = &g->tensors[n.in[0]], *slope = &g->tensors[n.in[1]];
    if (!t->known || t->data || t->dtype != HD_F32 || !slope->data || slope->rank > t->rank)
        return false;
    const float *v = slope->data;
    int64_t elems = hd_tensor_elems(slope);
    bool one = elems > 0;
    for (int64_t i = 1; i < elems; i++) one = one && v[i] == v[0];
    int y = n.out[0];
    if (one && isfinite(v[0])) {
        hd_graph_kill(g, node);
        int id = hd_graph_node(g, HD_IR_leakyrelu, n.name, 1, n.in, 1, &y);
        hd_attr_set_float(g, id, "alpha", v[0]);
        hd_graph_swap_names(g, id, node);
        return true;
    }
    if (!behind || !has_image(t)) return false;
    int64_t channels = t->dim[1];
    double *w = hd_new_array(a, double, (size_t)channels + 1);
    if (!hd_quant_per_channel(g, n.in[1], t->rank, 1, channels, w)) return false;
    for (int64_t i = 0; i < channels; i++)
        if (!isfinite((float)w[i])) return false;
    hd_graph_kill(g, node);
    hd_graph_swap_names(g, prelu_sum(g, &n, w, y), node);
    return true;
}

/* An average pool of several of three dimensions, not over all, as a depthwise convolution. */
static bool deep_pool(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor t = g->tensors[n.in[0]];
    int64_t k[3], pads[6], some = 0, area;
    if (n.op != HD_IR_avgpool || !t.known || t.rank != 5 || hd_volume_pool(g, node)) return false;
    if (hd_attr_ints(&n, "kernel_shape", k, 3, 1) != 3 || hd_attr_int(&n, "ceil_mode", 0) ||
        strcmp(hd_attr_string(&n, "auto_pad", "NOTSET"), "NOTSET"))
        return false;
    hd_attr_ints(&n, "pads", pads, 6, 0);
    for (int i = 0; i < 6; i++) some |= pads[i];
    if (some && !hd_attr_int(&n, "count_include_pad", 0)) return false;
    area = k[0] * k[1] * k[2];
    int64_t dim[5] = {t.dim[1], 1, k[0], k[1], k[2]}, elems = t.dim[1] * area;
    float *w = hd_new_array(g->arena, float, (size_t)elems + 1);
    for (int64_t i = 0; i < elems; i++) w[i] = 1 / (float)area;
    int in[2] = {n.in[0], hd_graph_const(g, "pool.weight", HD_F32, 5, dim, w)}, y = n.out[0];
    hd_graph_kill(g, node);
    int id = hd_graph_node(g, HD_IR_conv, n.name, 2, in, 1, &y);
    hd_qdq_copy_attrs(g, id, node, true);
    hd_attr_set_int(g, id, "group", t.dim[1]);
    hd_graph_swap_names(g, id, node);
    return true;
}

/* A quotient by constants as a product. */
static bool divided(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    const struct hd_tensor by = g->tensors[n.op == HD_IR_div ? n.in[1] : n.in[0]];
    if (n.op != HD_IR_div || !by.data || by.dtype != HD_F32 || hd_tensor_elems(&by) < 2)
        return false;
    float *v = hd_new_array(g->arena, float, (size_t)hd_tensor_elems(&by));
    for (int64_t i = 0; i < hd_tensor_elems(&by); i++) {
        v[i] = 1 / ((const float *)by.data)[i];
        if (!isfinite(v[i])) return false;
    }
    const char *name = hd_sprintf(g->arena, "%s.inverse", by.name);
    int in[2] = {n.in[0], hd_graph_const(g, name, HD_F32, by.rank, by.dim, v)}, y = n.out[0];
    hd_graph_kill(g, node);
    hd_graph_swap_names(g, hd_graph_node(g, HD_IR_mul, n.name, 2, in, 1, &y), node);
    return true;
}

bool hd_quant_canonical(hd_graph *g, hd_arena *a, const bool *wanted) {
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    const bool *behind = hd_quant_behind_layers(g, a, order, n);
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        bool is = wanted && wanted[order[i]];
        if (wanted && !is) continue;
        for (int k = 0; k < nd->n_in; k++) is = is || (nd->in[k] >= 0 && behind[nd->in[k]]);
        if (is && deep_pool(g, order[i])) return true;
        if (nd->op == HD_IR_prelu
                ? prelu(g, a, order[i], is)
                : is && nd->n_in > 1 && (scale_channels(g, a, order[i]) || divided(g, order[i])))
            return true; /* and again from the beginning: what is behind it may go into it */
    }
    return false;
}
