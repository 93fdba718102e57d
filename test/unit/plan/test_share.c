/* Shared storage (partition/share.c): channels of a concat with gaps between its parts, and images
 * that are read as rows and back. Golden's results are the ISS's, whatever moves. */
#include "test/unit/plan/convolution.h"

static int layers(const hd_model *m, const char *op) {
    int n = 0;
    for (int i = 0; i < m->n_layers; i++) n += !strcmp(m->layers[i].op, op);
    return n;
}

static int convolve(hd_graph *g, int x, const char *name, int64_t c, int64_t oc, int64_t k) {
    const struct conv_shape s = {
        .c = c, .kernel = {k, k}, .stride = {1, 1}, .pad = {k / 2, k / 2}, .oc = oc};
    return add_convolution(g, x, &s, name);
}

/* Parts that do not fill their words cost their readers words of zeros, or a move. */
static void gaps(void **state) {
    (void)state;
    static const struct {
        int64_t a, b, kernel, oc;
        int moves;
        bool pool; /* it reads the concat, too */
    } cases[] = {
        {24, 20, 1, 40, 0, false},                            /* four words, not three */
        {8, 40, 1, 16, 0, false},  {30, 16, 3, 16, 0, false}, /* as many words */
        {8, 8, 3, 16, 1, false},                              /* nine words more */
        {24, 20, 1, 40, 1, true},
    };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int tiny = 0; tiny < 2; tiny++) {
            int64_t a = cases[i].a, b = cases[i].b, two[2] = {2, 2}, one[2] = {1, 1};
            hd_graph *g = hd_graph_create();
            int x = add_input(g, 16, 9, 7), y = hd_graph_tensor(g, "joined", HD_I8, 0, NULL);
            int in[2] = {convolve(g, x, "a", 16, a, 1), convolve(g, x, "b", 16, b, 3)};
            int id = hd_graph_node(g, HD_IR_concat, "joined", 2, in, 1, &y);
            hd_attr_set_int(g, id, "axis", 1);
            if (cases[i].pool) hd_graph_output(g, add_pool(g, y, two, one, 0));
            y = convolve(g, y, "reader", a + b, cases[i].oc, cases[i].kernel);
            hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, y), tiny ? "tiny" : "base", 64);
            if (!tiny) assert_int_equal(layers(m, "concat"), cases[i].moves);
            hd_model_destroy(m);
        }
    hd_ctx_destroy(ctx);
}

static int transpose(hd_graph *g, int x, const char *name, const int64_t *perm) {
    int y = hd_graph_tensor(g, name, HD_I8, 0, NULL);
    int id = hd_graph_node(g, HD_IR_transpose, name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "perm", 4, perm);
    return y;
}

/* A softmax works along rows, the convolutions around it on images; the one behind it wants padding
 * or does not. The image is a part of a concat or is none. */
static void images_as_rows(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < 4; i++) {
        bool part = i & 1;
        hd_graph *g = hd_graph_create();
        int x = add_input(g, 16, 9, 7), a = convolve(g, x, "a", 16, 32, 3);
        int s = hd_graph_tensor(g, "softmax", HD_I8, 0, NULL);
        int rows = transpose(g, a, "rows", (int64_t[]){0, 2, 3, 1});
        int id = hd_graph_node(g, HD_IR_qsoftmax, "softmax", 1, &rows, 1, &s);
        hd_attr_set_int(g, id, "axis", 3);
        hd_attr_set_float(g, id, "x_scale", 0.125F), hd_attr_set_float(g, id, "scale", 250);
        int image = transpose(g, s, "image", (int64_t[]){0, 3, 1, 2}), in[2] = {a, image};
        int y = convolve(g, image, "y", 32, 24, i & 2 ? 1 : 3);
        if (part) {
            int z = hd_graph_tensor(g, "joined", HD_I8, 0, NULL);
            in[1] = convolve(g, x, "c", 16, 16, 1);
            id = hd_graph_node(g, HD_IR_concat, "joined", 2, in, 1, &z);
            hd_attr_set_int(g, id, "axis", 1);
            hd_graph_output(g, convolve(g, z, "z", 48, 16, 3));
        } else {
            hd_graph_output(g, convolve(g, a, "again", 32, 16, 3)); /* with padding */
        }
        hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, y), "base", 64);
        assert_int_equal(layers(m, "transpose"), 0);
        assert_int_equal(layers(m, "concat"), part); /* softmax reads no parts */
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

/* x, all of it, under another name. */
static int renamed(hd_graph *g, int x, const char *name, const int64_t *dim) {
    int y = hd_graph_tensor(g, name, HD_I8, 0, NULL);
    int id = hd_graph_node(g, HD_IR_reshape, name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "shape", 4, dim);
    return y;
}

/* A reshape that leaves pixels and channels as they are is a second name of its operand. Operands
 * of a concat, and what is cut, share storage behind it, too. */
static void second_names(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < 3; i++) {
        hd_graph *g = hd_graph_create();
        int x = add_input(g, 16, 9, 7), a = convolve(g, x, "a", 16, 32, 3);
        int in[2] = {renamed(g, a, "again", (int64_t[]){1, 32, 9, 7}),
                     convolve(g, x, "c", 16, 16, 1)};
        int y = hd_graph_tensor(g, "joined", HD_I8, 0, NULL);
        int id = hd_graph_node(g, HD_IR_concat, "joined", 2, in, 1, &y);
        hd_attr_set_int(g, id, "axis", 1);
        y = renamed(g, y, "twice", (int64_t[]){1, 48, 9, 7});
        int64_t two = 2, size[2] = {16, 32};
        int cut[2] = {y, hd_graph_const(g, "size", HD_I64, 1, &two, size)};
        int part[2] = {hd_graph_tensor(g, "p", HD_I8, 0, NULL),
                       hd_graph_tensor(g, "q", HD_I8, 0, NULL)};
        id = hd_graph_node(g, HD_IR_split, "cut", 2, cut, 2, part);
        hd_attr_set_int(g, id, "axis", 1);
        if (i == 1) hd_graph_output(g, convolve(g, a, "aside", 32, 16, 3));
        if (i == 2) hd_graph_output(g, convolve(g, part[0], "first", 16, 16, 3));
        hd_model *m = golden_is_iss(
            ctx, ends_with(ctx, g, convolve(g, part[1], "second", 32, 24, 1)), "base", 64);
        assert_int_equal(layers(m, "concat"), 0);
        assert_int_equal(layers(m, "reshape"), 0);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

static int join(hd_graph *g, const char *name, int a, int b) {
    int in[2] = {a, b}, y = hd_graph_tensor(g, name, HD_I8, 0, NULL);
    int id = hd_graph_node(g, HD_IR_concat, name, 2, in, 1, &y);
    hd_attr_set_int(g, id, "axis", 1);
    return y;
}

/* A dense block: each layer reads all that were made before it, and windows of each channel stand
 * in between, as norms that no convolution takes do. Each concat is part of the next one, and
 * nothing moves. */
static void dense_blocks(void **state) {
    (void)state;
    static const struct {
        struct conv_shape window;
        bool first; /* new channels come first */
    } cases[] = {
        {{.h = 14, .w = 12, .kernel = {1, 1}, .stride = {1, 1}}, false},
        {{.h = 14, .w = 12, .kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}, false},
        {{.h = 15, .w = 13, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, true},
        {{.h = 14, .w = 12, .kernel = {5, 5}, .stride = {1, 1}, .pad = {2, 2}}, true},
        {{.h = 30, .w = 9, .kernel = {3, 1}, .stride = {1, 1}, .pad = {1, 0}}, false},
        {{.h = 14, .w = 12, .kernel = {3, 3}, .stride = {1, 1}, .pad = {2, 2}, .dilation = {2, 2}},
         false},
        {{.h = 32, .w = 24, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}, false},
    };
    static const char *const machines[] = {"base", "base xm_bytes=16384", "tiny"};
    enum { MACHINES = sizeof machines / sizeof *machines };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < MACHINES * (sizeof cases / sizeof *cases); i++) {
        struct conv_shape each = cases[i / MACHINES].window;
        hd_graph *g = hd_graph_create();
        int x = add_input(g, 16, each.h, each.w), all = convolve(g, x, "first", 16, 32, 3), y = -1;
        each.c = 32;
        for (char n[] = "1"; *n < '4'; ++*n, each.c += 32) {
            char window[] = {'w', *n, 0}, part[] = {'p', *n, 0};
            int w = add_convolution(g, all, &each, window);
            if (*n == '2') hd_graph_output(g, convolve(g, w, "aside", each.c, 16, 1));
            y = convolve(g, each.stride[0] > 1 ? all : w, part, each.c, 32, 3);
            all = cases[i / MACHINES].first ? join(g, n, y, all) : join(g, n, all, y);
        }
        y = add_convolution(g, all, &each, "windows");
        hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, convolve(g, y, "last", each.c, 16, 1)),
                                    machines[i % MACHINES], 64);
        assert_int_equal(layers(m, "concat"), 0);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

/* Images [D,C,H,W] as the rows of one [1,C,D,H*W], or back. */
static int as_rows(hd_graph *g, int x, int64_t c, bool back, const char *name) {
    enum { D = 5, H = 6, W = 7 };
    int64_t rows[4] = {1, c, D, H * W}, images[4] = {D, c, H, W}, front[5] = {1, D, c, H, W},
            volume[5] = {1, c, D, H, W}, perm[5] = {0, 2, 1, 3, 4};
    int y[3];
    for (int i = 0; i < 3; i++)
        y[i] = hd_graph_tensor(g, hd_sprintf(g->arena, "%s%d", name, i), HD_I8, 0, NULL);
    int a = hd_graph_node(g, HD_IR_reshape, g->tensors[y[0]].name, 1, &x, 1, &y[0]);
    hd_attr_set_ints(g, a, "shape", 5, back ? volume : front);
    a = hd_graph_node(g, HD_IR_transpose, g->tensors[y[1]].name, 1, &y[0], 1, &y[1]);
    hd_attr_set_ints(g, a, "perm", 5, perm);
    a = hd_graph_node(g, HD_IR_reshape, g->tensors[y[2]].name, 1, &y[1], 1, &y[2]);
    hd_attr_set_ints(g, a, "shape", 4, back ? images : rows);
    return y[2];
}

static int maker(const hd_model *m, int tensor) {
    for (int i = 0; i < m->n_places; i++)
        if (m->places[i].tensor == tensor) return m->places[i].layer;
    return -1;
}

/* Frames of a video: windows over the depth read them as rows of one image, and a concat takes what
 * these make with what others made. Nothing moves. */
static void frames(void **state) {
    (void)state;
    static const char *const machines[] = {"base", "base xm_bytes=8192", "tiny"};
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < 6; i++) {
        const struct conv_shape deep = {
            .c = 32, .kernel = {3, 1}, .stride = {1, 1}, .pad = {1, 0}, .oc = 32};
        hd_graph *g = hd_graph_create();
        int x = add_images(g, 5, 16, 6, 7), a = convolve(g, x, "a", 16, 32, 3);
        int y = as_rows(g, a, 32, false, "to");
        y = i % 2 ? add_convolution(g, y, &deep, "deep")
                  : add_pool(g, y, (int64_t[]){1, 1}, (int64_t[]){1, 1}, 0);
        y = as_rows(g, y, 32, true, "back");
        int both = join(g, "both", y, convolve(g, a, "b", 32, 16, 1));
        hd_graph_output(g, convolve(g, both, "wide", 48, 16, 3));
        int again = as_rows(g, both, 48, false, "again");
        y = convolve(g, again, "last", 48, 16, 1);
        hd_model *m = golden_is_iss(ctx, ends_with(ctx, g, y), machines[i / 2], 64);
        assert_int_equal(layers(m, "reshape") + layers(m, "transpose") + layers(m, "concat"), 0);
        assert_int_equal(maker(m, again), maker(m, both)); /* the last that makes a part */
        assert_true(maker(m, both) >= 0);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps), cmocka_unit_test(images_as_rows),
                                       cmocka_unit_test(second_names),
                                       cmocka_unit_test(dense_blocks), cmocka_unit_test(frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
