/* Local response normalisation by operations that have integer forms.
 *
 *   lrn(x) = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta
 *          = (x * u) * u,  u = min((conv(x * x) + bias)^(-beta / 2), bias^(-beta / 2))
 *
 * The sum over channels is a 1x1 convolution by a band of weights. The root is taken of the whole
 * factor because u has half as many magnitudes as it: 8 bits hold those. The min changes nothing
 * but what rounding of the sum would take below bias. */
#include <math.h>

#include "compiler/quantize/quantize.h"

static int node(hd_graph *g, enum hd_ir_op op, int like, int n_in, const int *in,
                const char *suffix) {
    const struct hd_tensor t = g->tensors[like];
    int y =
        hd_graph_tensor(g, hd_sprintf(g->arena, "%s.%s", t.name, suffix), HD_F32, t.rank, t.dim);
    hd_graph_node(g, op, g->tensors[y].name, n_in, in, 1, &y);
    return y;
}

static int scalar(hd_graph *g, const char *name, float v) {
    return hd_graph_const(g, name, HD_F32, 0, NULL, &v);
}

/* The sum of the channels around each: [C,C,1..] with `weight` where |in - out| is inside. */
static int band(hd_graph *g, const struct hd_tensor *x, int64_t size, float weight) {
    int64_t c = x->dim[1], dim[HD_MAX_RANK] = {c, c, 1, 1};
    float *w = hd_new_array(g->arena, float, (size_t)(c * c));
    for (int64_t o = 0; o < c; o++)
        for (int64_t i = 0; i < c; i++)
            if (i >= o - (size - 1) / 2 && i <= o + size / 2) w[o * c + i] = weight;
    return hd_graph_const(g, "lrn.band", HD_F32, x->rank, dim, w);
}

bool hd_quant_lrn(hd_graph *g, int lrn) {
    const struct hd_node n = g->nodes[lrn];
    const struct hd_tensor x = g->tensors[n.in[0]];
    int64_t size = hd_attr_int(&n, "size", 1);
    float bias = hd_attr_float(&n, "bias", 1), half = -0.5f * hd_attr_float(&n, "beta", 0.75f);
    float weight = hd_attr_float(&n, "alpha", 1e-4f) / (float)size;
    bool bounded = bias > 0 && weight > 0 && half < 0 && isfinite(powf(bias, half));
    if (n.op != HD_IR_lrn || x.producer < 0 || !x.known || x.dtype != HD_F32 || x.rank < 3 ||
        x.rank > 4 || x.dim[1] > 4096 || !bounded)
        return false;
    float *b = hd_new_array(g->arena, float, (size_t)x.dim[1] + 1);
    for (int64_t i = 0; i < x.dim[1]; i++) b[i] = bias;
    int square = node(g, HD_IR_mul, n.in[0], 2, (int[]){n.in[0], n.in[0]}, "square");
    int layer[3] = {square, band(g, &x, size, weight),
                    hd_graph_const_f32(g, "lrn.bias", (int)x.dim[1], b)};
    int sum = node(g, HD_IR_conv, square, 3, layer, "sum");
    int root = node(g, HD_IR_pow, sum, 2, (int[]){sum, scalar(g, "lrn.power", half)}, "root");
    int most = scalar(g, "lrn.most", powf(bias, half));
    int u = node(g, HD_IR_min, root, 2, (int[]){root, most}, "factor");
    int once = node(g, HD_IR_mul, u, 2, (int[]){n.in[0], u}, "once"), y = n.out[0];
    hd_graph_kill(g, lrn);
    int last = hd_graph_node(g, HD_IR_mul, n.name, 2, (int[]){once, u}, 1, &y);
    hd_graph_swap_names(g, last, lrn);
    return true;
}
