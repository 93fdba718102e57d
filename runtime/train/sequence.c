/* Layers of sequences and statistics: recurrence, attention, embedding, batch norm, dropout. */
#include <math.h>
#include <string.h>

#include "compiler/grad/optimizer.h"
#include "runtime/train/layers.h"

enum { KEEP_STATISTICS = 10 }; /* running statistics move by 1 / so much of the way in each step */

static const char *named(struct hd_layers *l, const char *layer, const char *part) {
    return hd_sprintf(l->b.arena, "%s.%s", layer, part);
}

/* ---- recurrence ----------------------------------------------------------------------------- */

static int swapped(struct hd_back *b, int x) {
    return hd_b_transpose(b, x, (int64_t[]){1, 0, 2});
}

int hd_layer_recurrent(struct hd_layers *l, enum hd_ir_op op, int x, int64_t hidden, bool both) {
    struct hd_back *b = &l->b;
    const char *name = hd_layer_name(l, hd_ir_ops[op].name);
    if (b->status != HD_OK) return -1;
    struct hd_tensor t = hd_b_shape(b, x);
    int64_t n = both ? 2 : 1, gates = op == HD_IR_lstm ? 4 : op == HD_IR_gru ? 3 : 1;
    int64_t rows = gates * hidden;
    double deviation = 1 / sqrt((double)hidden);
    int w = hd_layer_weights(l, named(l, name, "w"), 3, (int64_t[]){n, rows, t.dim[2]}, deviation);
    int r = hd_layer_weights(l, named(l, name, "r"), 3, (int64_t[]){n, rows, hidden}, deviation);
    int bias = hd_layer_weights(l, named(l, name, "b"), 2, (int64_t[]){n, 2 * rows}, 0);
    int node = hd_b_start(b, op, 4, (int[]){swapped(b, x), w, r, bias}, 1);
    hd_b_int(b, node, "hidden_size", hidden);
    if (both) hd_b_string(b, node, "direction", "bidirectional");
    int y = hd_b_end(b, node); /* [T, directions, N, hidden] */
    y = hd_b_transpose(b, y, (int64_t[]){2, 0, 1, 3});
    return hd_b_reshape(b, y, 3, (int64_t[]){t.dim[0], t.dim[1], n * hidden});
}

/* ---- attention ------------------------------------------------------------------------------ */

/* [N,T,W] -> [N,heads,T,W/heads] */
static int parted(struct hd_back *b, int x, int heads) {
    struct hd_tensor t = hd_b_shape(b, x);
    int64_t dim[4] = {t.dim[0], t.dim[1], heads, t.dim[2] / heads};
    return hd_b_transpose(b, hd_b_reshape(b, x, 4, dim), (int64_t[]){0, 2, 1, 3});
}

/* Scores [.., T, S] without those of positions behind t. */
static int causal_only(struct hd_layers *l, int scores) {
    struct hd_tensor s = hd_b_shape(&l->b, scores);
    int64_t *dim = s.dim + s.rank - 2;
    bool *sees = hd_new_array(l->b.arena, bool, (size_t)(dim[0] * dim[1]) + 1);
    for (int64_t i = 0; i < dim[0] * dim[1]; i++) sees[i] = i % dim[1] <= i / dim[1];
    if (l->b.status != HD_OK) return -1;
    int mask = hd_graph_const(l->b.g, "sees", HD_BOOL, 2, dim, sees);
    return hd_b(&l->b, where, mask, scores, hd_b_number(&l->b, HD_F32, -1e9));
}

int hd_layer_attention(struct hd_layers *l, int x, int memory, int heads, bool causal) {
    struct hd_back *b = &l->b;
    hd_layer_name(l, "attention");
    struct hd_tensor t = hd_b_shape(b, x);
    if (b->status == HD_OK && (t.rank != 3 || heads < 1 || t.dim[2] % heads))
        b->status = hd_fail(b->ctx, HD_INVALID,
                            "attention of %d heads: '%s' is no [N,T,W] with a "
                            "multiple of that many",
                            heads, t.name);
    if (b->status != HD_OK) return -1;
    int64_t width = t.dim[2];
    int q = parted(b, hd_layer_linear(l, x, width), heads);
    int k = parted(b, hd_layer_linear(l, memory, width), heads);
    int v = parted(b, hd_layer_linear(l, memory, width), heads);
    int scores = hd_b(b, matmul, q, hd_b_transpose(b, k, (int64_t[]){0, 1, 3, 2}));
    double factor = 1 / sqrt((double)(width / heads));
    scores = hd_b(b, mul, scores, hd_b_number(b, HD_F32, factor));
    if (causal) scores = causal_only(l, scores);
    int y = hd_b(b, matmul, hd_b_softmax(b, scores, -1), v);
    y = hd_b_transpose(b, y, (int64_t[]){0, 2, 1, 3});
    return hd_layer_linear(l, hd_b_reshape(b, y, 3, t.dim), width);
}

int hd_layer_embedding(struct hd_layers *l, int x, int64_t n, int64_t width) {
    const char *name = hd_layer_name(l, "embedding");
    int64_t dim[2] = {n, width};
    int w = hd_layer_weights(l, named(l, name, "w"), 2, dim, 1 / sqrt((double)width));
    return hd_b(&l->b, gather, w, x);
}

int hd_layer_position(struct hd_layers *l, int x) {
    const char *name = hd_layer_name(l, "position");
    struct hd_tensor t = hd_b_shape(&l->b, x);
    if (l->b.status != HD_OK) return -1;
    int w = hd_layer_weights(l, named(l, name, "w"), 2, t.dim + 1, 0.1);
    return hd_b(&l->b, add, x, w);
}

/* ---- batch norm, dropout -------------------------------------------------------------------- */

/* What the trainer moves a statistic by: its difference from that of the batch. */
static void follow(struct hd_layers *l, int statistic, int batch) {
    int node = hd_b_start(&l->b, HD_IR_sub, 2, (int[]){statistic, batch}, 1);
    hd_b_float(&l->b, node, "follows", 1.0 / KEEP_STATISTICS);
    hd_b_end(&l->b, node);
}

int hd_layer_batchnorm(struct hd_layers *l, int x) {
    struct hd_back *b = &l->b;
    const char *name = hd_layer_name(l, "batchnorm");
    struct hd_tensor t = hd_b_shape(b, x);
    if (b->status != HD_OK) return -1;
    int64_t n = t.dim[1], axes[HD_MAX_RANK] = {0}, flat[HD_MAX_RANK] = {0};
    for (int d = 2; d < t.rank; d++) axes[d - 1] = d;
    for (int d = 0; d < t.rank; d++) flat[d] = d == 1 ? n : 1;
    int scale = hd_layer_filled(l, named(l, name, "scale"), n, 1);
    int bias = hd_layer_filled(l, named(l, name, "bias"), n, 0);
    int mean = hd_layer_filled(l, named(l, name, "mean"), n, 0);
    int var = hd_layer_filled(l, named(l, name, "var"), n, 1);
    if (l->training) {
        int m = hd_b_reduce(b, HD_IR_reducemean, x, t.rank - 1, axes, false);
        int off = hd_b(b, sub, x, hd_b_reshape(b, m, t.rank, flat));
        int v = hd_b_reduce(b, HD_IR_reducemean, hd_b(b, mul, off, off), t.rank - 1, axes, false);
        follow(l, mean, m);
        follow(l, var, v);
        mean = m, var = v;
    }
    return hd_b(b, batchnorm, x, scale, bias, mean, var);
}

int hd_layer_dropout(struct hd_layers *l, int x, double keep) {
    hd_layer_name(l, "dropout");
    if (!l->training || l->b.status != HD_OK) return x;
    if (!l->step) l->step = hd_layer_input(l, "step", 0, (int64_t[]){1}, NULL) + 1;
    return hd_dropout(&l->b, x, keep, l->seed, (uint32_t)l->n, l->step - 1);
}
