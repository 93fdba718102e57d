/* Random recurrent networks: layers of qlstm, qgru and qrnn with random sizes, batch, direction,
 * zero points and initial states (inputs, constants or none), compiled and run on a machine device
 * (random.h). */
#include <stdlib.h>

#include "test/random/random.h"
#include "test/rng.h"

struct gen {
    struct rng r;
    hd_graph *g;
    bool small;
};

static void *bytes(struct gen *x, int64_t n) {
    uint8_t *v = malloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) v[i] = (uint8_t)rng_next(&x->r);
    return v;
}
static float *floats(struct gen *x, int64_t n, float lo, float hi) {
    float *v = malloc(sizeof *v * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) v[i] = rng_float(&x->r, lo, hi);
    return v;
}

static int constant(struct gen *x, hd_dtype t, int64_t a, int64_t b, int64_t c, void *data) {
    int64_t dim[3] = {a, b, c};
    int id = hd_graph_const(x->g, "c", t, 3, dim, data);
    free(data);
    return id;
}

/* An initial state: left out, a constant, an input. */
static int initial(struct gen *x, hd_dtype t, int64_t d, int64_t b, int64_t h) {
    int64_t dim[3] = {d, b, h}, n = d * b * h;
    int kind = rng_range(&x->r, 0, 2);
    if (kind == 0) return -1;
    if (kind == 1)
        return constant(x, t, d, b, h, t == HD_F32 ? (void *)floats(x, n, -2, 2) : bytes(x, n));
    int id = hd_graph_tensor(x->g, "s", t, 3, dim);
    hd_graph_input(x->g, id);
    return id;
}

/* One layer; returns y, [steps, dirs, batch, hidden]. */
static int layer(struct gen *x, int in, int64_t steps, int64_t batch, int64_t depth, int64_t *out_d,
                 int64_t *out_h) {
    static const enum hd_ir_op ops[] = {HD_IR_qlstm, HD_IR_qlstm, HD_IR_qgru, HD_IR_qrnn};
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};
    enum hd_ir_op op = ops[rng_range(&x->r, 0, 3)];
    int gates = op == HD_IR_qlstm ? 4 : op == HD_IR_qgru ? 3 : 1, way = rng_range(&x->r, 0, 2);
    int64_t d = way == 2 ? 2 : 1, h = rng_range(&x->r, 1,
                                                x->small                      ? 40
                                                : rng_range(&x->r, 1, 5) == 1 ? 300
                                                                              : 90);
    int64_t gh = gates * h;
    hd_dtype type = rng_next(&x->r) % 3 ? HD_I8 : HD_U8, x_type = x->g->tensors[in].dtype;
    float step = rng_float(&x->r, 0.004f, 0.012f);
    int32_t *bias = malloc(sizeof *bias * (size_t)(d * 2 * gh));
    float *scale = malloc(sizeof *scale * (size_t)(d * 2 * gh));
    for (int64_t i = 0; i < d * 2 * gh; i++) {
        bool of_h = i / gh % 2;
        bias[i] = rng_range(&x->r, -3000, 3000);
        scale[i] = rng_float(&x->r, 0.2f, 3.0f) / (float)(60 * (of_h ? h : depth) + 200);
    }
    int ins[7] = {in,
                  constant(x, HD_I8, d, gh, depth, bytes(x, d * gh * depth)),
                  constant(x, HD_I8, d, gh, h, bytes(x, d * gh * h)),
                  constant(x, HD_I32, d, 2, gh, bias),
                  constant(x, HD_F32, d, 2, gh, scale),
                  initial(x, gates == 3 ? HD_F32 : type, d, batch, h),
                  -1};
    if (gates == 4) ins[6] = initial(x, HD_F32, d, batch, h);
    int64_t y_dim[4] = {steps, d, batch, h}, s_dim[3] = {d, batch, h};
    int out[2] = {hd_graph_tensor(x->g, "y", type, 4, y_dim), -1};
    bool state = gates > 1 && rng_next(&x->r) % 2;
    if (state) out[1] = hd_graph_tensor(x->g, "last", HD_F32, 3, s_dim);
    int id = hd_graph_node(x->g, op, hd_ir_ops[op].name, gates == 4 ? 7 : 6, ins, 1 + state, out);
    int lo = type == HD_U8 ? 0 : -128, x_lo = x_type == HD_U8 ? 0 : -128;
    hd_attr_set_string(x->g, id, "direction", directions[way]);
    hd_attr_set_string(x->g, id, "to", hd_dtype_name(type));
    hd_attr_set_int(x->g, id, "x_zp", rng_range(&x->r, x_lo, x_lo + 255));
    hd_attr_set_int(x->g, id, "y_zp",
                    rng_next(&x->r) % 2 ? lo + 128 : rng_range(&x->r, lo, lo + 255));
    hd_attr_set_float(x->g, id, "scale", 1 / step);
    hd_attr_set_int(x->g, id, "linear_before_reset", rng_next(&x->r) % 2);
    if (rng_next(&x->r) % 4 == 0) hd_attr_set_string(x->g, id, "activation", "none");
    if (state) hd_graph_output(x->g, out[1]);
    *out_d = d, *out_h = h;
    return out[0];
}

static hd_graph *generate(uint64_t seed, int layers, bool small) {
    struct gen all = {{seed * 7919 + 3}, hd_graph_create(), small}, *x = &all;
    int64_t steps = rng_range(&x->r, 1, x->small ? 6 : 40),
            batch = rng_next(&x->r) % 2 ? 1 : rng_range(&x->r, 1, 20);
    int64_t depth = rng_range(&x->r, 1, x->small ? 40 : 150), d, h, dim[3] = {steps, batch, depth};
    int t = hd_graph_tensor(x->g, "x", rng_next(&x->r) % 2 ? HD_I8 : HD_U8, 3, dim);
    hd_graph_input(x->g, t);
    for (int i = 0; i < layers; i++) {
        t = layer(x, t, steps, batch, depth, &d, &h);
        if (i + 1 == layers) break;
        int64_t perm[4] = {0, 2, 1, 3}, turned[4] = {steps, batch, d, h};
        int64_t flat[3] = {steps, batch, d * h};
        hd_dtype type = x->g->tensors[t].dtype;
        if (d == 2) { /* both directions side by side, as exporters write it */
            int y = hd_graph_tensor(x->g, "t", type, 4, turned);
            int id = hd_graph_node(x->g, HD_IR_transpose, "turn", 1, &t, 1, &y);
            hd_attr_set_ints(x->g, id, "perm", 4, perm);
            t = y;
        }
        int y = hd_graph_tensor(x->g, "t", type, 3, flat);
        int id = hd_graph_node(x->g, HD_IR_reshape, "flat", 1, &t, 1, &y);
        hd_attr_set_ints(x->g, id, "shape", 3, flat);
        t = y, depth = d * h;
    }
    hd_graph_output(x->g, t);
    return x->g;
}

int main(int argc, char **argv) {
    static const struct random_kind kind = {
        .name = "random_rnn", .most_layers = 3, .generate = generate};
    return random_main(argc, argv, &kind);
}
