/* Summands of norms in the products behind them: W (n + b) = W n + W b.
 *
 * A norm without a summand takes the machine a pass less, and its result lies around zero. Only
 * where all that reads it are products by constant weights. */
#include <math.h>

#include "compiler/quantize/quantize.h"

enum { READERS = 16 };

struct product {
    int node, bias; /* the node with the bias, an operand of it; bias < 0: there is none yet */
    int *operand;
    const float *w;
    int64_t channels, step_in, step_out; /* of its result; distances in w */
};

static bool constant(const hd_graph *g, int t) {
    return t >= 0 && g->tensors[t].data && g->tensors[t].dtype == HD_F32;
}

/* A gemm or matmul of `n` channels of tensor t, and where its bias is. */
static bool product_of(const hd_graph *g, int node, int t, int64_t n, struct product *out) {
    const struct hd_node *p = &g->nodes[node];
    int axis = hd_quant_weights(g, node), bias = -1;
    if (axis < 0 || (p->op != HD_IR_gemm && p->op != HD_IR_matmul)) return false;
    const struct hd_tensor *w = &g->tensors[p->in[1]];
    if (p->in[0] != t || w->dim[1 - axis] != n || hd_attr_int(p, "transA", 0)) return false;
    int64_t step = w->dim[1];
    *out =
        (struct product){node, -1, NULL, w->data, w->dim[axis], axis ? step : 1, axis ? 1 : step};
    if (p->n_in > 2 && p->in[2] >= 0) {
        out->bias = p->in[2], out->operand = &p->in[2];
        return true;
    }
    int add = hd_quant_bias_add(g, node, &bias);
    if (add < 0) return true;
    out->node = add, out->bias = bias;
    out->operand = &g->nodes[add].in[g->nodes[add].in[0] == bias ? 0 : 1];
    return true;
}

/* The bias of a product with the sums of `by` in it; -1: not finite. */
static int biased(hd_graph *g, const struct product *p, int64_t n, const float *by) {
    const struct hd_tensor *old = p->bias < 0 ? NULL : &g->tensors[p->bias];
    bool one = old && hd_tensor_elems(old) == 1;
    float *v = hd_new_array(g->arena, float, (size_t)p->channels + 1);
    for (int64_t c = 0; c < p->channels; c++) {
        double sum = old ? (double)((const float *)old->data)[one ? 0 : c] : 0;
        for (int64_t i = 0; i < n; i++)
            sum += (double)p->w[i * p->step_in + c * p->step_out] * (double)by[i];
        v[c] = (float)sum;
        if (!isfinite(v[c])) return -1;
    }
    return hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.bias", g->nodes[p->node].name),
                              (int)p->channels, v);
}

/* A product without a bias gets a sum behind it, which is the tensor of that name now. */
static void add_sum(hd_graph *g, const struct product *p, int bias) {
    int y = g->nodes[p->node].out[0];
    const struct hd_tensor t = g->tensors[y];
    int sum = hd_graph_tensor(g, hd_sprintf(g->arena, "%s.sum", t.name), t.dtype, t.rank, t.dim);
    hd_graph_replace(g, y, sum);
    hd_graph_swap_tensor_names(g, y, sum);
    hd_graph_node(g, HD_IR_add, t.name, 2, (int[]){y, bias}, 1, &sum);
}

bool hd_quant_norm(hd_graph *g, int node) {
    const struct hd_node n = g->nodes[node];
    if (n.op != HD_IR_layernorm || n.n_out != 1 || n.n_in < 3 || !constant(g, n.in[2]))
        return false;
    const struct hd_tensor *b = &g->tensors[n.in[2]], *y = &g->tensors[n.out[0]];
    int user[READERS], bias[READERS];
    struct product p[READERS];
    size_t readers = hd_graph_users(g, n.out[0], user, READERS);
    int64_t channels = y->known && y->rank ? y->dim[y->rank - 1] : 0;
    const float *by = b->data;
    bool any = false;
    for (int64_t i = 0; i < hd_tensor_elems(b); i++) any = any || by[i] != 0;
    if (!any || b->rank != 1 || b->dim[0] != channels || !readers || readers > READERS ||
        hd_graph_is_output(g, n.out[0]))
        return false;
    for (size_t i = 0; i < readers; i++)
        if (!product_of(g, user[i], n.out[0], channels, &p[i])) return false;
    for (size_t i = 0; i < readers; i++) {
        bias[i] = biased(g, &p[i], channels, by);
        if (bias[i] < 0) return false;
    }
    for (size_t i = 0; i < readers; i++)
        if (p[i].operand)
            *p[i].operand = bias[i];
        else
            add_sum(g, &p[i], bias[i]);
    float *zero = hd_new_array(g->arena, float, (size_t)channels + 1);
    g->nodes[node].in[2] =
        hd_graph_const_f32(g, hd_sprintf(g->arena, "%s.none", b->name), (int)channels, zero);
    return true;
}
