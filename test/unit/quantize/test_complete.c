/* Completion of networks that quantise some tensors only (compiler/quantize/complete.c): they
 * become integers throughout, with values near those of the float operations, and what is to stay
 * float does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "compiler/compiler.h"
#include "cpu_ref/golden.h"
#include "test/rng.h"

enum { C = 16, SIDE = 8 }; /* channels, pixels a side */

struct net {
    hd_graph *g;
    struct rng r;
};

static int op(struct net *n, enum hd_ir_op o, int n_in, const int *in) {
    int y = hd_graph_tensor(n->g, "t", HD_F32, 0, NULL);
    hd_graph_node(n->g, o, hd_ir_ops[o].name, n_in, in, 1, &y);
    return y;
}

static int one(struct net *n, enum hd_ir_op o, int a) {
    return op(n, o, 1, &a);
}

static int two(struct net *n, enum hd_ir_op o, int a, int b) {
    return op(n, o, 2, (int[]){a, b});
}

static int last(const struct net *n) {
    return (int)n->g->n_nodes - 1;
}

static int number(struct net *n, float v) {
    return hd_graph_const(n->g, "c", HD_F32, 0, NULL, &v);
}

static int quantize(struct net *n, int t, float scale, int zero) {
    int8_t z = (int8_t)zero;
    int in[3] = {t, number(n, scale), hd_graph_const(n->g, "z", HD_I8, 0, NULL, &z)};
    int y = op(n, HD_IR_quantize, 3, in);
    n->g->tensors[y].dtype = HD_I8;
    return y;
}

static int dequantize(struct net *n, int t, float scale, int zero) {
    int8_t z = (int8_t)zero;
    int in[3] = {t, number(n, scale), hd_graph_const(n->g, "z", HD_I8, 0, NULL, &z)};
    return op(n, HD_IR_dequantize, 3, in);
}

/* About normal with this deviation: a sum of four even ones. */
static float gauss(struct net *n, float deviation) {
    float v = 0;
    for (int i = 0; i < 4; i++) v += rng_float(&n->r, -0.5f, 0.5f);
    return v * deviation * 1.7320508f;
}

/* A convolution of C to C channels whose results deviate as its operand does; sp: of images, or of
 * volumes, one image deep. */
static int conv_of(struct net *n, int x, int sp, int kernel, bool floats) {
    int64_t dim[5] = {C, C, 1, kernel, kernel}, half = kernel / 2,
            pads[6] = {0, half, half, 0, half, half};
    if (sp == 2) dim[2] = kernel, pads[0] = half, pads[3] = half;
    size_t elems = (size_t)(C * C * kernel * kernel);
    float step = 1 / (40 * sqrtf((float)(C * kernel * kernel))), w[C * C * 9], b[C];
    int8_t q[C * C * 9];
    for (size_t i = 0; i < elems; i++) {
        q[i] = (int8_t)fmaxf(-127, fminf(127, rintf(gauss(n, 40))));
        w[i] = (float)q[i] * step;
    }
    for (int i = 0; i < C; i++) b[i] = gauss(n, 0.2f);
    int weights = floats ? hd_graph_const(n->g, "w", HD_F32, sp + 2, dim, w)
                         : dequantize(n, hd_graph_const(n->g, "w", HD_I8, sp + 2, dim, q), step, 0);
    int y = op(n, HD_IR_conv, 3, (int[]){x, weights, hd_graph_const_f32(n->g, "b", C, b)});
    hd_attr_set_ints(n->g, last(n), "pads", 2 * sp, pads);
    hd_attr_set_ints(n->g, last(n), "kernel_shape", sp, dim + 2);
    return y;
}

static int conv(struct net *n, int x, int kernel, bool floats) {
    return conv_of(n, x, 2, kernel, floats);
}

static int channels(struct net *n, int rank, float from, float step) {
    float v[C];
    for (int i = 0; i < C; i++) v[i] = from + step * (float)i;
    return hd_graph_const(n->g, "v", HD_F32, rank, (int64_t[]){C, 1, 1}, v);
}

/* ---- the networks: from what is dequantised to what is quantised ---- */

static int residual(struct net *n, int x) { /* as TensorRT's networks have it */
    int y = dequantize(n, quantize(n, one(n, HD_IR_relu, conv(n, x, 3, false)), 0.02f, -128), 0.02f,
                       -128);
    return one(n, HD_IR_relu, two(n, HD_IR_add, conv(n, y, 3, false), x));
}

static int shortcut(struct net *n, int x) {
    return two(n, HD_IR_add, conv(n, x, 3, false), conv(n, x, 1, false));
}

static int silu(struct net *n, int x) {
    int y = conv(n, x, 3, false);
    return two(n, HD_IR_mul, y, one(n, HD_IR_sigmoid, y));
}

static int squeeze(struct net *n, int x) {
    int g = one(n, HD_IR_avgpool, x);
    hd_attr_set_ints(n->g, last(n), "kernel_shape", 2, (int64_t[]){SIDE, SIDE});
    return two(n, HD_IR_mul, x, one(n, HD_IR_hardsigmoid, conv(n, g, 1, false)));
}

static int batchnorm(struct net *n, int x) { /* half of its factors are negative */
    int of[5] = {conv(n, x, 3, false), channels(n, 1, -1.05f, 0.14f), channels(n, 1, -0.5f, 0.1f),
                 channels(n, 1, 0.4f, -0.05f), channels(n, 1, 0.5f, 0.1f)};
    return op(n, HD_IR_batchnorm, 5, of);
}

static int prelu(struct net *n, int x) {
    return two(n, HD_IR_prelu, conv(n, x, 3, false), channels(n, 3, 0, 0.02f));
}

static int larger(struct net *n, int x) {
    return two(n, HD_IR_max, one(n, HD_IR_neg, x), conv(n, x, 1, false));
}

static int smaller(struct net *n, int x) {
    return two(n, HD_IR_min, one(n, HD_IR_neg, x), conv(n, x, 1, false));
}

static int threshold(struct net *n, int x) { /* of one tensor, by a comparison */
    int high = two(n, HD_IR_greater, x, number(n, 0.4f));
    n->g->tensors[high].dtype = HD_BOOL;
    return op(n, HD_IR_where, 3, (int[]){high, x, number(n, 0.1f)});
}

static int below_largest(struct net *n, int x) { /* of the channels */
    int axes = hd_graph_const(n->g, "axes", HD_I64, 1, (int64_t[]){1}, (int64_t[]){1});
    int m = dequantize(n, quantize(n, two(n, HD_IR_reducemax, x, axes), 0.03f, 2), 0.03f, 2);
    return two(n, HD_IR_sub, x, m);
}

static int instance(struct net *n, int x) {
    return op(n, HD_IR_instancenorm, 3,
              (int[]){x, channels(n, 1, 0.5f, 0.05f), channels(n, 1, -0.4f, 0.05f)});
}

static int attention(struct net *n, int x) { /* rows of pixels, with a mask of what is behind */
    int64_t rows[3] = {1, C, SIDE * SIDE};
    int t = one(n, HD_IR_reshape, x);
    hd_attr_set_ints(n->g, last(n), "shape", 3, rows);
    int u = one(n, HD_IR_transpose, t);
    hd_attr_set_ints(n->g, last(n), "perm", 3, (int64_t[]){0, 2, 1});
    float mask[C * C] = {0};
    for (int i = 0; i < C; i++)
        for (int k = i + 1; k < C; k++) mask[i * C + k] = -1e9f;
    int s = dequantize(n, quantize(n, two(n, HD_IR_matmul, t, u), 0.5f, 0), 0.5f, 0);
    s = two(n, HD_IR_mul, s, number(n, 0.1f));
    s = two(n, HD_IR_add, s, hd_graph_const(n->g, "mask", HD_F32, 2, (int64_t[]){C, C}, mask));
    s = dequantize(n, quantize(n, one(n, HD_IR_softmax, s), 1 / 255.0f, -128), 1 / 255.0f, -128);
    s = two(n, HD_IR_matmul, s, t);
    int y = one(n, HD_IR_reshape, s);
    hd_attr_set_ints(n->g, last(n), "shape", 4, (int64_t[]){1, C, SIDE, SIDE});
    return y;
}

static int volume(struct net *n, int x) { /* resized linearly, and its convolution */
    int y = one(n, HD_IR_reshape, x);
    hd_attr_set_ints(n->g, last(n), "shape", 5, (int64_t[]){1, C, 4, 4, 4});
    int sizes = hd_graph_const(n->g, "z", HD_I64, 1, (int64_t[]){5}, (int64_t[]){1, C, 2, 4, 8});
    y = op(n, HD_IR_resize, 4, (int[]){y, -1, -1, sizes});
    hd_attr_set_string(n->g, last(n), "mode", "linear");
    y = conv_of(n, y, 3, 3, false);
    y = two(n, HD_IR_mul, y, one(n, HD_IR_sigmoid, y));
    y = one(n, HD_IR_reshape, y);
    hd_attr_set_ints(n->g, last(n), "shape", 4, (int64_t[]){1, C, SIDE, SIDE});
    return y;
}

static int kept(struct net *n, int x) {
    return one(n, HD_IR_relu, conv(n, x, 3, true));
}

/* ---- checks ---- */

typedef int make(struct net *n, int x);

static struct net build(make *f, float scale) {
    struct net n = {hd_graph_create(), {11}};
    int x = hd_graph_tensor(n.g, "x", HD_I8, 4, (int64_t[]){1, C, SIDE, SIDE});
    hd_graph_input(n.g, x);
    int y = quantize(&n, f(&n, dequantize(&n, x, 0.03f, 2)), scale, -3);
    hd_graph_output(n.g, y);
    return n;
}

static const int8_t *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    struct net n = {NULL, {5}};
    int8_t *x = hd_alloc(a, C * SIDE * SIDE);
    for (int i = 0; i < C * SIDE * SIDE; i++) x[i] = (int8_t)fmaxf(-128, fminf(127, gauss(&n, 33)));
    t[g->inputs[0]].data = x;
    assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, t, a), HD_OK);
    return t[g->outputs[0]].data;
}

static int float_nodes(const hd_graph *g) {
    int found = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; !g->nodes[i].dead && k < g->nodes[i].n_out; k++)
            found += g->tensors[g->nodes[i].out[k]].dtype == HD_F32;
    return found;
}

/* Steps of the result's scale between the float operations and the integers, at most and as a mean.
 */
static void near(make *f, float scale, double most, double mean) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct net n = build(f, scale), m = build(f, scale);
    assert_int_equal(hd_graph_infer(ctx, n.g), HD_OK);
    assert_int_equal(hd_graph_infer(ctx, m.g), HD_OK);
    if (hd_legalize(ctx, m.g) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(float_nodes(m.g), 0);
    const int8_t *x = run(ctx, n.g, a), *y = run(ctx, m.g, a);
    double worst = 0, sum = 0;
    int least = 127, largest = -128;
    for (int i = 0; i < C * SIDE * SIDE; i++) {
        double e = fabs((double)x[i] - (double)y[i]);
        worst = fmax(worst, e), sum += e;
        least = x[i] < least ? x[i] : least, largest = x[i] > largest ? x[i] : largest;
    }
    sum /= C * SIDE * SIDE;
    if (worst > most || sum > mean) fail_msg("%g steps off, %g as a mean", worst, sum);
    assert_true(largest - least > 60); /* else there is little to differ in */
    hd_graph_destroy(n.g);
    hd_graph_destroy(m.g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void values_are_near(void **state) {
    (void)state;
    near(residual, 0.02f, 1, 0.25);
    near(shortcut, 0.04f, 2, 0.4);
    near(silu, 0.02f, 2, 0.3);
    near(squeeze, 0.02f, 1, 0.2);
    near(batchnorm, 0.03f, 1, 0.02);
    near(prelu, 0.02f, 4, 0.9);
    near(larger, 0.03f, 1, 0.01);
    near(smaller, 0.03f, 1, 0.1);
    near(threshold, 0.03f, 0, 0);
    near(below_largest, 0.05f, 0, 0);
    near(instance, 0.03f, 2, 0.6);
    near(attention, 0.02f, 2, 0.1);
    near(volume, 0.02f, 3, 0.4);
}

/* Layers with float weights, and what an output of the network reads. */
static void some_stay_float(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct net n = build(kept, 0.03f);
    assert_int_equal(hd_graph_infer(ctx, n.g), HD_OK);
    assert_int_equal(hd_legalize(ctx, n.g), HD_OK);
    assert_true(float_nodes(n.g) > 0);
    hd_graph_destroy(n.g);
    n = build(silu, 0.02f);
    for (size_t i = 0; i < n.g->n_nodes; i++)
        if (n.g->nodes[i].op == HD_IR_conv) hd_graph_output(n.g, n.g->nodes[i].out[0]);
    assert_int_equal(hd_graph_infer(ctx, n.g), HD_OK);
    assert_int_equal(hd_legalize(ctx, n.g), HD_OK);
    assert_true(float_nodes(n.g) > 0);
    hd_graph_destroy(n.g);
    hd_ctx_destroy(ctx);
}

/* Tensors that get a range are counted; those that a quantize reads take its scale. */
static void scales_are_counted(void **state) {
    (void)state;
    static const struct {
        make *f;
        int scales;
    } of[] = {{residual, 1}, {shortcut, 2}, {batchnorm, 0}, {attention, 2}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        hd_ctx *ctx = hd_ctx_create();
        struct net n = build(of[i].f, 0.02f);
        assert_int_equal(hd_graph_infer(ctx, n.g), HD_OK);
        assert_int_equal(hd_legalize(ctx, n.g), HD_OK);
        assert_int_equal(n.g->scales_found, of[i].scales);
        hd_graph_destroy(n.g);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_near),
                                       cmocka_unit_test(some_stay_float),
                                       cmocka_unit_test(scales_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
