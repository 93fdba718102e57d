/* Bounds of small networks, each counted by hand on tiny: 8 x 8 multipliers, 8 lanes, a port of 8
 * bytes, 32,768 bytes of XM, 65,536 of WM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/roofline/roofline.h"

struct net {
    hd_graph *g;
    struct hd_machine m;
    hd_arena *a;
};

static struct net begin(void) {
    struct net n = {.g = hd_graph_create(), .a = hd_arena_create()};
    hd_ctx *ctx = hd_ctx_create();
    assert_int_equal(hd_machine_load(ctx, "tiny", &n.m), HD_OK);
    hd_ctx_destroy(ctx);
    return n;
}

static void end(struct net *n) {
    hd_graph_destroy(n->g);
    hd_arena_destroy(n->a);
}

static int tensor(struct net *n, hd_dtype t, int64_t d0, int64_t d1, int64_t d2, int64_t d3) {
    int rank = d3 ? 4 : d2 ? 3 : 2;
    return hd_graph_tensor(n->g, "t", t, rank, (int64_t[]){d0, d1, d2, d3});
}

static int input(struct net *n, int64_t c, int64_t h, int64_t w) {
    int x = tensor(n, HD_I8, 1, c, h, w);
    hd_graph_input(n->g, x);
    return x;
}

static int constant(struct net *n, hd_dtype t, int rank, const int64_t *dim) {
    size_t bytes = hd_dtype_bytes(t);
    for (int i = 0; i < rank; i++) bytes *= (size_t)dim[i];
    return hd_graph_const(n->g, "c", t, rank, dim, hd_alloc(n->a, bytes));
}

static int one_input(struct net *n, enum hd_ir_op op, int x, int y) {
    return hd_graph_node(n->g, op, NULL, 1, &x, 1, &y);
}

/* x, weights, y -> a convolution with a scale for all channels. */
static int conv(struct net *n, int x, int w, int y, int64_t group) {
    const struct hd_tensor *t = &n->g->tensors[w];
    int64_t channels = t->dim[0], one = 1, kernel[2] = {t->dim[2], t->dim[3]};
    int in[4] = {x, w, constant(n, HD_I32, 1, &channels), constant(n, HD_F32, 1, &one)};
    int id = hd_graph_node(n->g, HD_IR_qconv, NULL, 4, in, 1, &y);
    hd_attr_set_ints(n->g, id, "kernel_shape", 2, kernel);
    hd_attr_set_int(n->g, id, "group", group);
    return id;
}

static int weights(struct net *n, hd_dtype t, int64_t m, int64_t c, int64_t kh, int64_t kw) {
    return constant(n, t, 4, (int64_t[]){m, c, kh, kw});
}

static void check(struct net *n, int node, struct hd_bounds want) {
    struct hd_bounds b = hd_roofline(n->a, n->g, &n->m)[node];
    assert_int_equal(b.mx_cycles, want.mx_cycles);
    assert_int_equal(b.vx_cycles, want.vx_cycles);
    assert_int_equal(b.chain_cycles, want.chain_cycles);
    assert_int_equal(b.read_bytes, want.read_bytes);
    assert_int_equal(b.write_bytes, want.write_bytes);
}

/* 5 * 100 * 27 MACs of 64 a cycle, 500 results of 8; 300 bytes of x, 135 weights, 20 of bias, 4 of
 * scale; 9-bit weights are as many. Channels count as they are: 3 of 8, 5 of 8. */
static void convolutions(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct net n = begin();
        int y = tensor(&n, HD_I8, 1, 5, 10, 10), w = weights(&n, wide ? HD_I16 : HD_I8, 5, 3, 3, 3);
        int id = conv(&n, input(&n, 3, 10, 10), w, y, 1);
        hd_graph_output(n.g, y);
        check(&n, id, (struct hd_bounds){211, 63, 0, 300 + 135 + 20 + 4, 500});
        end(&n);
    }
}

/* Five rows of one column: along the rows it takes two passes of three taps. 1,920 MACs. */
static void depthwise(void **state) {
    (void)state;
    struct net n = begin();
    int y = tensor(&n, HD_I8, 1, 6, 8, 8);
    int id = conv(&n, input(&n, 6, 8, 8), weights(&n, HD_I8, 6, 1, 5, 1), y, 6);
    check(&n, id, (struct hd_bounds){30, 96, 0, 384 + 30 + 24 + 4, 0});
    end(&n);
}

/* 3 x 3 of 8 x 8 x 4: rows first, 3 * 64 and 3 * 64 vectors of 4 lanes. */
static void pools(void **state) {
    (void)state;
    struct net n = begin();
    int id = one_input(&n, HD_IR_qmaxpool, input(&n, 4, 8, 8), tensor(&n, HD_I8, 1, 4, 8, 8));
    hd_attr_set_ints(n.g, id, "kernel_shape", 2, (int64_t[]){3, 3});
    check(&n, id, (struct hd_bounds){0, 192, 0, 256, 0});
    end(&n);
}

/* A function of a byte is free behind a convolution, which loads its table, unless the sum itself
 * is wanted, too. */
static void tables(void **state) {
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct net n = begin();
        int x = input(&n, 8, 4, 4), made = tensor(&n, HD_I8, 1, 8, 4, 4);
        int maker = conv(&n, x, weights(&n, HD_I8, 8, 8, 1, 1), made, 1);
        int64_t d = 256, least = 8 * 4 * 4 + 8 * 8 + 9 * 4;
        int in[2] = {made, constant(&n, HD_I8, 1, &d)}, y = tensor(&n, HD_I8, 1, 8, 4, 4);
        int id = hd_graph_node(n.g, HD_IR_qtable, NULL, 2, in, 1, &y);
        if (twice) one_input(&n, HD_IR_qrescale, made, tensor(&n, HD_I8, 1, 8, 4, 4));
        check(&n, id, (struct hd_bounds){0, twice ? 16 : 0, 0, twice ? 256 : 0, 0});
        check(&n, maker, (struct hd_bounds){16, 16, 0, twice ? least : least + 256, 0});
        end(&n);
    }
}

/* Four rows of ten: exp of 40, 40 products, 4 reciprocals. */
static void rows(void **state) {
    (void)state;
    struct net n = begin();
    int x = tensor(&n, HD_I8, 4, 10, 0, 0);
    hd_graph_input(n.g, x);
    int id = one_input(&n, HD_IR_qsoftmax, x, tensor(&n, HD_I8, 4, 10, 0, 0));
    hd_attr_set_int(n.g, id, "axis", -1);
    check(&n, id, (struct hd_bounds){0, 11, 0, 40, 0});
    end(&n);
}

/* Seven steps of 4 inputs and 16 units. A step waits for two words and nine cycles of MX, four
 * passes of 20 cycles, two functions of 8. */
static void recurrences(void **state) {
    (void)state;
    struct net n = begin();
    int x = tensor(&n, HD_I8, 7, 1, 4, 0), y = tensor(&n, HD_I8, 7, 1, 1, 16);
    hd_graph_input(n.g, x);
    int in[5] = {x, constant(&n, HD_I8, 3, (int64_t[]){1, 64, 4}),
                 constant(&n, HD_I8, 3, (int64_t[]){1, 64, 16}),
                 constant(&n, HD_I32, 3, (int64_t[]){1, 2, 64}),
                 constant(&n, HD_F32, 3, (int64_t[]){1, 2, 64})};
    int id = hd_graph_node(n.g, HD_IR_qlstm, NULL, 5, in, 1, &y);
    struct hd_bounds want = {140, 84, 7 * (9 + 2 + 4 * 20 + 2 * 8),
                             28 + 64 * 4 + 64 * 16 + 2 * 128 * 4, 0};
    const char *which;
    check(&n, id, want);
    assert_int_equal(hd_bound_cycles(&want, 8, &which), 749);
    assert_string_equal(which, "chain");
    end(&n);
}

/* Quarters of a float image, side by side: the image comes once, a byte of each element for the
 * convolution and three for the node that rounds them. What moves is nobody's work. */
static void movement(void **state) {
    (void)state;
    struct net n = begin();
    int x = tensor(&n, HD_F32, 1, 3, 8, 8), q = tensor(&n, HD_I8, 1, 3, 8, 8), parts[4];
    hd_graph_input(n.g, x);
    int round = one_input(&n, HD_IR_quantize, x, q);
    for (int i = 0; i < 4; i++) {
        parts[i] = tensor(&n, HD_I8, 1, 3, 4, 4);
        one_input(&n, HD_IR_slice, q, parts[i]);
    }
    int all = tensor(&n, HD_I8, 1, 12, 4, 4), y = tensor(&n, HD_I8, 1, 8, 4, 4),
        out = tensor(&n, HD_F32, 1, 8, 4, 4);
    int joined = hd_graph_node(n.g, HD_IR_concat, NULL, 4, parts, 1, &all);
    int id = conv(&n, all, weights(&n, HD_I8, 8, 12, 1, 1), y, 1);
    int back = one_input(&n, HD_IR_dequantize, y, out);
    hd_graph_output(n.g, out);
    check(&n, round, (struct hd_bounds){0, 24, 0, 3 * 192, 0});
    check(&n, joined, (struct hd_bounds){0});
    check(&n, id, (struct hd_bounds){24, 16, 0, 192 + 96 + 32 + 4, 128});
    check(&n, back, (struct hd_bounds){0, 16, 0, 0, 3 * 128});
    hd_attr_set_int(n.g, id, "moves", 1); /* a permutation as a convolution */
    check(&n, id, (struct hd_bounds){0});
    end(&n);
}

/* Weights that two layers share come once. */
static void shared_weights(void **state) {
    (void)state;
    struct net n = begin();
    int w = weights(&n, HD_I8, 8, 8, 1, 1), half = tensor(&n, HD_I8, 1, 8, 4, 4);
    conv(&n, input(&n, 8, 4, 4), w, half, 1);
    int id = conv(&n, half, w, tensor(&n, HD_I8, 1, 8, 4, 4), 1);
    check(&n, id, (struct hd_bounds){16, 16, 0, 32 + 4, 0});
    end(&n);
}

/* 51,200 bytes, of which XM holds 32,768. Rows can pass from layer to layer; but where the result
 * is multiplied by its own mean, the rest goes through DRAM. */
static void larger_than_xm(void **state) {
    (void)state;
    for (int mean = 0; mean < 2; mean++) {
        struct net n = begin();
        int t = tensor(&n, HD_I8, 1, 32, 40, 40), y = tensor(&n, HD_I8, 1, 32, 40, 40), last;
        int first = conv(&n, input(&n, 8, 40, 40), weights(&n, HD_I8, 32, 8, 1, 1), t, 1);
        if (mean) {
            int in[2] = {t, tensor(&n, HD_I8, 1, 32, 1, 1)};
            one_input(&n, HD_IR_qmean, t, in[1]);
            last = hd_graph_node(n.g, HD_IR_qmul, NULL, 2, in, 1, &y);
        } else {
            last = one_input(&n, HD_IR_qrescale, t, y);
        }
        int64_t rest = mean ? 51200 - 32768 : 0;
        check(&n, first, (struct hd_bounds){51200 * 8 / 64, 6400, 0, 12800 + 256 + 128 + 4, rest});
        check(&n, last, (struct hd_bounds){0, mean ? 6400 : 0, 0, rest, 0});
        end(&n);
    }
}

/* Both layers' weights are 8,192 bytes more than WM has. Two parts of 36,864 bytes take those once
 * more. */
static void weights_again(void **state) {
    (void)state;
    struct net n = begin();
    int t = tensor(&n, HD_I8, 1, 64, 24, 24), y = tensor(&n, HD_I8, 1, 64, 24, 24);
    conv(&n, input(&n, 64, 24, 24), weights(&n, HD_I8, 64, 64, 3, 3), t, 1);
    int id = conv(&n, t, weights(&n, HD_I8, 64, 64, 3, 3), y, 1);
    struct hd_bounds want = {36864 * 9, 4608, 0, 36864 + 256 + 4 + 8192, 0};
    check(&n, id, want);
    end(&n);
}

static void largest_bound(void **state) {
    (void)state;
    static const struct {
        struct hd_bounds b;
        int64_t cycles;
        const char *which;
    } by_hand[] = {{{0}, 0, "none"},
                   {{5, 4, 0, 32, 0}, 5, "compute"},
                   {{4, 5, 0, 32, 0}, 5, "vector"},
                   {{4, 5, 0, 41, 30}, 6, "memory"}, /* both ways at once */
                   {{4, 5, 0, 30, 41}, 6, "memory"},
                   {{4, 5, 7, 41, 41}, 7, "chain"}};
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        const char *which;
        assert_int_equal(hd_bound_cycles(&by_hand[i].b, 8, &which), by_hand[i].cycles);
        assert_string_equal(which, by_hand[i].which);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),   cmocka_unit_test(depthwise),
        cmocka_unit_test(pools),          cmocka_unit_test(tables),
        cmocka_unit_test(rows),           cmocka_unit_test(recurrences),
        cmocka_unit_test(movement),       cmocka_unit_test(shared_weights),
        cmocka_unit_test(larger_than_xm), cmocka_unit_test(weights_again),
        cmocka_unit_test(largest_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
