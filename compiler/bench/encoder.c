/* The encoder layer of `heddle bench encoder`: attention and feed-forward part of a transformer
 * with layer norm behind each, int8, weights from the seed. */
#include "compiler/bench/graph.h"

#include <math.h>

struct encoder {
    hd_graph *g;
    hd_arena *a;
    uint64_t *seed;
    int64_t seq, dim, heads;
};

static int tensor(struct encoder *e, int rank, const int64_t *dim) {
    return hd_graph_tensor(e->g, hd_sprintf(e->a, "t%d", (int)e->g->n_tensors), HD_I8, rank, dim);
}

static int node(struct encoder *e, enum hd_ir_op op, const char *name, int n_in, const int *in,
                int rank, const int64_t *dim, int *out_node) {
    int y = tensor(e, rank, dim), id = hd_graph_node(e->g, op, name, n_in, in, 1, &y);
    if (out_node) *out_node = id;
    return y;
}

static int moved(struct encoder *e, enum hd_ir_op op, const char *name, int x, int rank,
                 const int64_t *dim, const int64_t *v) {
    int id, y = node(e, op, name, 1, &x, rank, dim, &id);
    hd_attr_set_ints(e->g, id, op == HD_IR_reshape ? "shape" : "perm", rank, v);
    return y;
}

/* x [seq, k] by weights. */
static int dense(struct encoder *e, const char *name, int x, int64_t k, int64_t n) {
    int64_t wd[2] = {n, k}, dim[2] = {e->seq, n}, one = 1;
    int32_t *bias = hd_new_array(e->a, int32_t, (size_t)n);
    float scale = 1.0f / (float)(8 * k);
    for (int64_t i = 0; i < n; i++) bias[i] = (int32_t)(hd_bench_random(e->seed) % 2001) - 1000;
    int in[4] = {x,
                 hd_graph_const(e->g, hd_sprintf(e->a, "%s.w", name), HD_I8, 2, wd,
                                hd_bench_bytes(e->a, n * k, e->seed)),
                 hd_graph_const(e->g, hd_sprintf(e->a, "%s.b", name), HD_I32, 1, &n, bias),
                 hd_graph_const(e->g, hd_sprintf(e->a, "%s.s", name), HD_F32, 1, &one, &scale)};
    return node(e, HD_IR_qgemm, name, 4, in, 2, dim, NULL);
}

/* x [seq, dim] as heads: [heads, seq, d], or turned [heads, d, seq]. */
static int heads(struct encoder *e, const char *name, int x, bool turned) {
    int64_t d = e->dim / e->heads, cut[3] = {e->seq, e->heads, d};
    int64_t dim[3] = {e->heads, turned ? d : e->seq, turned ? e->seq : d};
    int64_t perm[3] = {1, turned ? 2 : 0, turned ? 0 : 2};
    int s = moved(e, HD_IR_reshape, hd_sprintf(e->a, "%s.cut", name), x, 3, cut, cut);
    return moved(e, HD_IR_transpose, hd_sprintf(e->a, "%s.heads", name), s, 3, dim, perm);
}

static int product(struct encoder *e, const char *name, int a, int b, int64_t rows, int64_t cols,
                   float scale) {
    int64_t dim[3] = {e->heads, rows, cols};
    int id, in[2] = {a, b}, y = node(e, HD_IR_qmatmul, name, 2, in, 3, dim, &id);
    hd_attr_set_float(e->g, id, "scale", scale);
    return y;
}

static int attention(struct encoder *e, int x) {
    int64_t d = e->dim / e->heads, dim[3] = {e->heads, e->seq, e->seq}, flat[2] = {e->seq, e->dim};
    int64_t back[3] = {e->seq, e->heads, d}, perm[3] = {1, 0, 2};
    int k = heads(e, "k", dense(e, "key", x, e->dim, e->dim), true);
    int v = heads(e, "v", dense(e, "value", x, e->dim, e->dim), false);
    int q = heads(e, "q", dense(e, "query", x, e->dim, e->dim), false);
    int s = product(e, "scores", q, k, e->seq, e->seq, 1.0f / (float)(64 * d)), id;
    int p = node(e, HD_IR_qsoftmax, "softmax", 1, &s, 3, dim, &id);
    hd_attr_set_string(e->g, id, "to", "u8"); /* unsigned, as legalisation makes it */
    e->g->tensors[p].dtype = HD_U8;
    hd_attr_set_int(e->g, id, "axis", 2);
    hd_attr_set_int(e->g, id, "lo", 0), hd_attr_set_int(e->g, id, "hi", 255);
    hd_attr_set_float(e->g, id, "x_scale", 0.02f), hd_attr_set_float(e->g, id, "scale", 256);
    int y = product(e, "weighted", p, v, e->seq, d, 1.0f / 64);
    y = moved(e, HD_IR_transpose, "joined", y, 3, back, perm);
    y = moved(e, HD_IR_reshape, "rows", y, 2, flat, flat);
    return dense(e, "output", y, e->dim, e->dim);
}

/* Layer norm of a + b. */
static int add_norm(struct encoder *e, const char *name, int a, int b) {
    int64_t dim[2] = {e->seq, e->dim};
    int id, in[3] = {a, b};
    float *v = hd_new_array(e->a, float, (size_t)e->dim);
    int x = node(e, HD_IR_qadd, hd_sprintf(e->a, "%s.add", name), 2, in, 2, dim, &id);
    hd_attr_set_float(e->g, id, "a_scale", 0.5f), hd_attr_set_float(e->g, id, "b_scale", 0.5f);
    in[0] = x;
    for (int i = 1; i < 3; i++) {
        for (int64_t c = 0; c < e->dim; c++)
            v[c] = (i == 1 ? 30.0f : 0) + (float)(hd_bench_random(e->seed) % 16);
        in[i] = hd_graph_const_f32(e->g, hd_sprintf(e->a, "%s.%d", name, i), (int)e->dim, v);
    }
    int y = node(e, HD_IR_qlayernorm, name, 3, in, 2, dim, &id);
    hd_attr_set_float(e->g, id, "epsilon", 1e-2f);
    return y;
}

static int gelu(struct encoder *e, int x, int64_t n) {
    int64_t dim[2] = {e->seq, n}, size = 256;
    int8_t table[256];
    for (int i = 0; i < 256; i++) {
        double v = (double)(int8_t)i / 32;
        table[i] = (int8_t)(v / (1 + exp(-1.702 * v)) * 32); /* of this shape */
    }
    int in[2] = {x, hd_graph_const(e->g, "gelu.table", HD_I8, 1, &size, table)};
    return node(e, HD_IR_qtable, "gelu", 2, in, 2, dim, NULL);
}

hd_graph *hd_bench_encoder(hd_arena *a, int64_t seq, int64_t dim, int64_t n_heads, int64_t hidden,
                           uint64_t seed) {
    struct encoder e = {hd_graph_create(), a, &seed, seq, dim, n_heads};
    int64_t xd[2] = {seq, dim};
    int x = hd_graph_tensor(e.g, "x", HD_I8, 2, xd);
    hd_graph_input(e.g, x);
    int n1 = add_norm(&e, "norm1", x, attention(&e, x));
    int h = gelu(&e, dense(&e, "expand", n1, dim, hidden), hidden);
    hd_graph_output(e.g, add_norm(&e, "norm2", n1, dense(&e, "project", h, hidden, dim)));
    return e.g;
}
