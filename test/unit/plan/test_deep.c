/* Deep chains: products behind products, by rows that take turns in a few slots. Results are
 * golden's, and what lies between leaves DRAM alone. */
#include "test/unit/plan/convolution.h"

static int add_sum(hd_graph *g, int a, int b, const char *name) {
    int y = hd_graph_tensor(g, name, HD_I8, 0, NULL);
    int node = hd_graph_node(g, HD_IR_qadd, name, 2, (int[]){a, b}, 1, &y);
    hd_attr_set_float(g, node, "a_scale", 0.75f), hd_attr_set_float(g, node, "b_scale", 0.5f);
    hd_attr_set_int(g, node, "b_zp", 3);
    return y;
}

/* A convolution to s->c channels, one of windows s, the sum of both; slides: 3x3 of each channel;
 * then a layer of stride 2. The sum stands for a residual block; with a window of 1x1 of each
 * channel, for PReLU. */
static hd_graph *block(hd_ctx *ctx, int64_t images, const struct conv_shape *s, bool slides) {
    hd_graph *g = hd_graph_create();
    struct conv_shape first = {8, s->h, s->w, {3, 3}, {1, 1}, {1, 1}, .oc = s->c},
                      each = {s->c, 0, 0, {3, 3}, {1, 1}, {1, 1}, .oc = 0},
                      last = {s->c, 0, 0, {3, 3}, {2, 2}, {1, 1}, .oc = 24};
    int a = add_convolution(g, add_images(g, images, 8, s->h, s->w), &first, "first");
    int b = add_convolution(g, a, s, "window");
    int y = add_sum(g, b, a, "sum");
    if (slides) y = add_convolution(g, y, &each, "each");
    return ends_with(ctx, g, add_convolution(g, y, &last, "last"));
}

/* DRAM is dear, so that whatever can roll does. Returns how many tensors roll. */
static int rolling(hd_ctx *ctx, const char *machine, hd_graph *g) {
    struct hd_knobs dear = hd_knobs;
    dear.traffic = 1;
    hd_model *m = golden_is_iss_by(ctx, g, machine, 64, &dear);
    int n = 0;
    for (int i = 0; i < m->n_places; i++) n += m->places[i].rolling > 0;
    hd_model_destroy(m);
    return n;
}

static const char *const machines[] = {"tiny xm_bytes=16384", "base xm_bytes=32768",
                                       "big xm_bytes=65536", "k26 xm_bytes=131072"};
enum { MACHINES = sizeof machines / sizeof *machines };

/* Windows that end in the slots that they begin in, and those that do not; dilated ones; weights of
 * 9 bits, which take two planes; all of them, or few. */
static void windows_of_rows(void **state) {
    (void)state;
    static const struct {
        int64_t kernel[2], pad[2], dilation[2];
        int zero, few;
    } of[] = {{{3, 3}, {1, 1}, {1, 1}, 0, 0},   {{1, 1}, {0, 0}, {1, 1}, 0, 0},
              {{5, 3}, {2, 1}, {1, 1}, 0, 0},   {{3, 3}, {2, 2}, {2, 2}, 0, 0},
              {{3, 5}, {3, 2}, {3, 1}, 0, 0},   {{3, 3}, {1, 1}, {1, 1}, 130, 0},
              {{3, 3}, {1, 1}, {1, 1}, 130, 50}};
    hd_ctx *ctx = hd_ctx_create();
    int all = 0;
    for (int m = 0; m < MACHINES; m++)
        for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
            struct conv_shape s = {40, 45, 38, {0}, {1, 1}, {0}, .oc = 40};
            memcpy(s.kernel, of[i].kernel, sizeof s.kernel);
            memcpy(s.pad, of[i].pad, sizeof s.pad);
            memcpy(s.dilation, of[i].dilation, sizeof s.dilation);
            s.zero = of[i].zero, s.few = of[i].few;
            all += rolling(ctx, machines[m], block(ctx, 1, &s, i % 2)) >= 2;
        }
    assert_true(all >= MACHINES * 4); /* where WM and AM have room */
    hd_ctx_destroy(ctx);
}

/* A slope for each channel, and the sum with what it was taken of. */
static void slopes(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int m = 0; m < MACHINES; m++)
        for (int64_t w = 37; w < 41; w++) {
            struct conv_shape s = {48, 50, w, {1, 1}, {1, 1}, {0, 0}, .oc = 0};
            assert_true(rolling(ctx, machines[m], block(ctx, 1, &s, w % 2)) >= 2);
        }
    hd_ctx_destroy(ctx);
}

/* Three results are the images of one tensor, of which the next layer makes bytes: it reads more
 * than the layer before makes. */
static void images_of_others(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    struct conv_shape s = {16, 12, 10, {1, 1}, {1, 1}, {0, 0}, .oc = 32},
                      last = {32, 0, 0, {3, 3}, {1, 1}, {1, 1}, .oc = 0};
    int x = add_input(g, 16, 12, 10), in[3];
    for (int i = 0; i < 3; i++) in[i] = add_convolution(g, x, &s, "part");
    int y = hd_graph_tensor(g, "all", HD_I8, 0, NULL);
    hd_attr_set_int(g, hd_graph_node(g, HD_IR_concat, "all", 3, in, 1, &y), "axis", 0);
    rolling(ctx, "base", ends_with(ctx, g, add_convolution(g, y, &last, "last")));
    hd_ctx_destroy(ctx);
}

/* Several images, one behind the other: the padding above each is there, and costs nothing of its
 * rows. Three take no more than three times the cycles of one. */
static void images_in_turn(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int m = 0; m < MACHINES; m++)
        for (int slides = 0; slides < 2; slides++) {
            struct conv_shape s = {40, 23, 38, {3, 3}, {1, 1}, {1, 1}, .oc = 40};
            assert_true(rolling(ctx, machines[m], block(ctx, 3, &s, slides)) >= 2);
        }
    int64_t cycles[2];
    for (int k = 0; k < 2; k++) {
        struct conv_shape s = {40, 45, 38, {1, 1}, {1, 1}, {0, 0}, .oc = 0};
        hd_model *model =
            golden_is_iss(ctx, block(ctx, k ? 3 : 1, &s, true), "base xm_bytes=65536", 64);
        cycles[k] = model->steps[0].estimate;
        hd_model_destroy(model);
    }
    assert_true(cycles[1] <= 3 * cycles[0]);
    hd_ctx_destroy(ctx);
}

/* 64 KB between two convolutions, and as much in front and behind, in 64 KB of XM: rows leave DRAM
 * alone, and the plan takes a hundredth more at most. */
static void few_cycles_more(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_knobs dear = hd_knobs;
    struct hd_model *m[2];
    for (int deep = 0; deep < 2; deep++) {
        struct conv_shape first = {64, 32, 32, {3, 3}, {1, 1}, {1, 1}, .oc = 64}, last = first;
        hd_graph *g = hd_graph_create();
        int y = add_convolution(g, add_input(g, 64, 32, 32), &first, "first");
        hd_graph *two = ends_with(ctx, g, add_convolution(g, y, &last, "last"));
        if (deep) dear.traffic = 1;
        m[deep] = golden_is_iss_by(ctx, two, "base xm_bytes=65536", 64, &dear);
    }
    int rolling = 0;
    for (int i = 0; i < m[1]->n_places; i++) rolling += m[1]->places[i].rolling > 0;
    assert_int_equal(rolling, 1);
    assert_true(m[1]->steps[0].estimate < m[0]->steps[0].estimate * 101 / 100);
    for (int i = 0; i < 2; i++) hd_model_destroy(m[i]);
    hd_ctx_destroy(ctx);
}

/* Attention over rows of `width` bytes of each head; a mask for all heads. Keys and values are made
 * on the machine, or come in. */
static hd_graph *attention(hd_ctx *ctx, int heads, int rows, int width, bool mask, bool inside) {
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST), *at = text, *end = text + MOST;
    hd_graph *g = NULL;
    at +=
        snprintf(at, (size_t)(end - at), "graph g {\n input x i8[%d,%d,%d]\n", heads, rows, width);
    at += snprintf(at, (size_t)(end - at), " const m i8[1,%d,%d] = {1", rows, rows);
    for (int i = 1; i < rows * rows; i++)
        at += snprintf(at, (size_t)(end - at), ",%d", i % rows > i / rows ? -99 : i % 7);
    at += snprintf(at, (size_t)(end - at),
                   "}\n k ? = qrescale(x) scale=0.75 to=\"i8\"\n"
                   " t ? = transpose(%s) perm=[0,2,1]\n"
                   " s ? = qmatmul(x, t) to=\"i8\" scale=0.0009765625\n"
                   "%s"
                   " p ? = qsoftmax(%s) axis=2 to=\"i8\" x_scale=0x1p-4 scale=256.0 y_zp=-128\n"
                   " v ? = qrescale(x) scale=1.5 to=\"i8\" y_zp=3\n"
                   " y ? = qmatmul(p, %s) to=\"i8\" a_zp=-128 b_zp=3 scale=0.0078125\n output y\n}",
                   inside ? "k" : "x",
                   mask ? " a ? = qadd(s, m) to=\"i8\" a_scale=0.75 b_scale=1.0\n" : "",
                   mask ? "a" : "s", inside ? "v" : "x");
    if (hd_graph_parse(ctx, text, "attention", &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    free(text);
    return g;
}

/* Scores, softmax and the product with values go row by row, also where a tile has rows of two
 * heads, and rows of several heads come at once. */
static void rows_of_scores(void **state) {
    (void)state;
    static const char *const small[] = {"tiny", "base", "big", "base xm_bytes=32768"};
    static const int sizes[][3] = {{3, 61, 16}, {2, 130, 32}, {5, 70, 24}, {1, 190, 64}};
    hd_ctx *ctx = hd_ctx_create();
    int all = 0;
    for (int m = 0; m < 4; m++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++)
                all += rolling(
                           ctx, small[m],
                           attention(ctx, sizes[i][0], sizes[i][1], sizes[i][2], k % 2, k / 2)) > 0;
    assert_true(all > 16);
    hd_ctx_destroy(ctx);
}

/* Scores of 2 heads of 320 rows are more than XM holds: they and the probabilities roll, so the
 * product with values is one of the chain. WM that does not hold keys and values of two heads must
 * not make them one. */
static void up_to_values(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    assert_int_equal(rolling(ctx, "base", attention(ctx, 2, 320, 48, false, true)), 2);
    rolling(ctx, "base wm_bytes=16384", attention(ctx, 2, 320, 48, false, true));
    hd_ctx_destroy(ctx);
}

/* Values are made before scores, so that nothing stands between softmax and their product. */
static void values_first(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = golden_is_iss(ctx, attention(ctx, 2, 40, 32, false, true), "base", 64);
    int at[2] = {-1, -1};
    for (int i = 0; i < m->n_layers; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(m->layers[i].name, k ? "s" : "v")) at[k] = i;
    assert_in_range(at[0], 0, at[1] - 1);
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_rows), cmocka_unit_test(slopes),
        cmocka_unit_test(images_in_turn),  cmocka_unit_test(images_of_others),
        cmocka_unit_test(few_cycles_more), cmocka_unit_test(rows_of_scores),
        cmocka_unit_test(up_to_values),    cmocka_unit_test(values_first)};
    return cmocka_run_group_tests_name("deep", tests, NULL, NULL);
}
