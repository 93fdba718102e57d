/* Shapes and memories that are rarely looked at: results are golden's, and plans are not far from
 * the best for want of a candidate or of a look at latency. */
#include <stdio.h>
#include <unistd.h>

#include "compiler/pass/pass.h"
#include "runtime/base/num.h"
#include "test/unit/plan/convolution.h"

/* Cycles that the compiler estimates; results are compared. */
static int64_t run(hd_ctx *ctx, const char *machine, hd_graph *g, uint32_t latency) {
    hd_model *model = golden_is_iss(ctx, g, machine, latency);
    assert_int_equal(model->n_host_ops, 0);
    int64_t cycles = model->steps[0].estimate;
    hd_model_destroy(model);
    return cycles;
}

/* A sequence is an image of one row: it is cut across, so that loads, products and stores of its
 * parts run beside each other. */
static void sequences(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape wide = {64, 1, 400, {1, 3}, {1, 1}, {0, 1}, .oc = 64},
                                   first = {1, 1, 1000, {1, 9}, {1, 2}, {0, 4}, .oc = 32};
    int64_t products = 400 * 3 * 4 * 4, before = 192 + 48 * 16; /* latencies, weights */
    assert_true(run(ctx, "base", convolution(ctx, &wide), 64) < products + before);
    for (uint32_t latency = 30; latency <= 200; latency += 85)
        assert_true(run(ctx, "base", convolution(ctx, &first), latency) < 2000 + 4 * latency);
    run(ctx, "tiny", convolution(ctx, &wide), 64);
    run(ctx, "big", convolution(ctx, &first), 64);
    hd_ctx_destroy(ctx);
}

/* Short runs cost LX the latency by the bursts that are open: 5120 of a 5x5 window gathered for
 * each of 1024 pixels take 64,000 cycles at latency 200, where packed pixels take 41,000 of MX; so
 * with every second pixel of a depthwise layer. */
static void latency_counts(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape first = {3, 32, 32, {5, 5}, {1, 1}, {2, 2}, .oc = 64},
                                   halved = {
                                       96, 112, 112, {3, 3}, {2, 2}, {1, 1}, .dilation = {1, 1}};
    int64_t near = run(ctx, "base", convolution(ctx, &first), 64);
    assert_true(near < 24000);
    assert_true(run(ctx, "base", convolution(ctx, &first), 200) < 45000);
    assert_true(run(ctx, "base", convolution(ctx, &halved), 200) < 56 * 56 * 6 * 6 * 11 / 10);
    hd_ctx_destroy(ctx);
}

/* A graph may leave kernel_shape out. */
static void weights_tell_window(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape shape[] = {
        {16, 10, 9, {3, 3}, {1, 1}, {1, 1}, .oc = 24, .unsaid = true},
        {16, 10, 9, {1, 3}, {1, 2}, {0, 1}, .oc = 8, .unsaid = true},
        {24, 12, 12, {5, 5}, {1, 1}, {2, 2}, .unsaid = true},
        {16, 6, 6, {4, 4}, {2, 2}, {1, 1}, .oc = 16, .ups = 1, .unsaid = true}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        run(ctx, "tiny", convolution(ctx, &shape[i]), 64);
    hd_ctx_destroy(ctx);
}

/* Windows of more words than WM holds twice: weights come once, not once for a few pixels, and the
 * operand by the parts of the reduction. 7x7 of 2048 channels read 132 MB so once, now 10. */
static void deep_windows(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape deep = {1024, 7, 7, {3, 3}, {1, 1}, {1, 1}, .oc = 64},
                                   odd = {928, 5, 6, {3, 3}, {2, 1}, {1, 1}, .oc = 40},
                                   far = {600,    9,      9,        {3, 3},
                                          {1, 1}, {2, 2}, .oc = 24, .dilation = {2, 2}};
    assert_true(run(ctx, "base", convolution(ctx, &deep), 64) < 49 * 9 * 64 * 4 * 11 / 10);
    run(ctx, "base", convolution(ctx, &odd), 64);
    assert_true(run(ctx, "tiny", convolution(ctx, &far), 64) < 81 * 9 * 75 * 3 * 12 / 10);
    hd_ctx_destroy(ctx);
}

/* Steps of operations have 16 bits, and half of AM may have more words. */
static void wide_tiles(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape row = {8, 1, 8192, {1, 1}, {1, 1}, {0, 0}, .oc = 32};
    run(ctx, "tiny am_bytes=2097152 xm_bytes=4194304", convolution(ctx, &row), 64);
    hd_ctx_destroy(ctx);
}

/* Patches of an image: weights need not stay for windows to be gathered. */
static void patches(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape vit = {3, 96, 96, {16, 16}, {16, 16}, {0, 0}, .oc = 384},
                                   coarse = {3, 96, 96, {32, 32}, {32, 32}, {0, 0}, .oc = 320};
    assert_true(run(ctx, "base", convolution(ctx, &vit), 64) < 36 * 48 * 24 * 13 / 10);
    assert_true(run(ctx, "base", convolution(ctx, &coarse), 64) < 9 * 192 * 20 * 2);
    hd_ctx_destroy(ctx);
}

/* Windows of one channel fill words when VX turns them: 5x5 of 28x28 takes 2 words a pixel, not 5.
 * Strides, 9 bits, odd sizes and machines whose words are not vectors give the same results. */
static void turned_windows(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct conv_shape digits = {1, 28, 28, {5, 5}, {1, 1}, {2, 2}, .oc = 8},
                                   spectrum = {1, 49, 10, {10, 4}, {2, 2}, {4, 1}, .oc = 64},
                                   other[] = {
                                       {1, 19, 35, {3, 3}, {1, 3}, {1, 1}, .oc = 16},
                                       {1, 17, 40, {5, 5}, {1, 1}, {0, 2}, .oc = 24, .zero = 120},
                                       {1, 64, 96, {7, 7}, {2, 1}, {3, 3}, .oc = 40}};
    static const char *machine[] = {"base", "tiny", "nano", "big", "base k=32", "base n=32"};
    assert_true(run(ctx, "base", convolution(ctx, &digits), 64) < 28 * 28 * 5);
    assert_true(run(ctx, "base", convolution(ctx, &spectrum), 64) < 3100);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        for (size_t k = 0; k < sizeof machine / sizeof *machine; k++)
            run(ctx, machine[k], convolution(ctx, &other[i]), 64);
    hd_ctx_destroy(ctx);
}

static hd_graph *pool(hd_ctx *ctx, int64_t c, int64_t h, const int64_t *kernel,
                      const int64_t *stride, int64_t pad) {
    hd_graph *g = hd_graph_create();
    return ends_with(ctx, g, add_pool(g, add_input(g, c, h, h), kernel, stride, pad));
}

/* In two steps, a result is that of the whole window (golden of both), and it pays. */
static void pools_in_two_steps(void **state) {
    (void)state;
    enum { C = 40, H = 15 };
    hd_ctx *ctx = hd_ctx_create();
    static const int64_t kernel[][2] = {{5, 5}, {13, 13}, {3, 3}, {3, 7}, {7, 2}},
                         stride[][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 2}, {2, 1}};
    for (int i = 0; i < 5; i++) {
        int64_t pad = hd_min(kernel[i][0], kernel[i][1]) / 2;
        static int8_t x[C * H * H], y[2][C * H * H];
        int64_t cycles[2];
        for (int k = 0; k < C * H * H; k++) x[k] = (int8_t)(k * 53 + k / 5);
        for (int two = 0; two < 2; two++) {
            hd_graph *g = pool(ctx, C, H, kernel[i], stride[i], pad);
            if (two && hd_pass_run(ctx, g, "separate") != HD_OK) fail_msg("%s", hd_message(ctx));
            hd_model *m = golden_is_iss(ctx, g, "base", 64);
            struct hd_device_options d = {.machine = m->machine};
            hd_session *s;
            cycles[two] = m->steps[0].estimate;
            assert_int_equal(m->n_layers, 1 + two);
            if (hd_session_open(ctx, m, "golden", &d, &s) != HD_OK ||
                hd_session_run(ctx, s, (const void *[]){x}, (void *[]){y[two]}) != HD_OK)
                fail_msg("%s", hd_message(ctx));
            hd_session_close(s);
            hd_model_destroy(m);
        }
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_true(cycles[1] < cycles[0]);
    }
    hd_ctx_destroy(ctx);
}

/* One operation goes down the rows of a vector, whatever windows padding cuts, or over the vectors
 * of a row, where those are more. */
static void pools_down(void **state) {
    (void)state;
    static const struct {
        int64_t c, h, kernel[2], stride[2], pad;
    } of[] = {{8, 30, {2, 2}, {2, 2}, 0}, {24, 31, {3, 3}, {2, 2}, 1}, {40, 17, {5, 3}, {1, 2}, 1},
              {16, 9, {3, 3}, {1, 1}, 1}, {200, 7, {3, 3}, {2, 1}, 1}, {8, 64, {2, 2}, {2, 2}, 0}};
    static const char *machine[] = {"base", "tiny", "nano", "big", "base xm_bytes=8192"};
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t k = 0; k < sizeof machine / sizeof *machine; k++)
            run(ctx, machine[k], pool(ctx, of[i].c, of[i].h, of[i].kernel, of[i].stride, of[i].pad),
                64);
    int64_t cycles =
        run(ctx, "base", pool(ctx, 16, 32, (int64_t[]){2, 2}, (int64_t[]){2, 2}, 0), 64);
    if (cycles >= 1600) fail_msg("%lld cycles", (long long)cycles);
    hd_ctx_destroy(ctx);
}

/* The mean of an image of any size: pixels come as they are needed, all channels of each where AM
 * holds their sums. */
static void means(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        int c, h, w;
        int64_t cycles[2]; /* at most; of sums in binary32, of integers */
    } mean[] = {{"base", 64, 56, 56, {30000, 14500}},  {"base", 16, 112, 112, {80000, 14500}},
                {"tiny", 130, 31, 31, {24000, 19000}}, {"base", 3, 5, 7, {1000, 400}},
                {"tiny", 2000, 3, 3, {6000, 4500}},    {"base", 7, 1, 3, {1000, 300}},
                {"big", 40, 33, 31, {12000, 4000}},    {"nano", 24, 20, 20, {60000, 5000}},
                {"lean", 40, 17, 23, {60000, 5000}},   {"base k=32", 50, 9, 12, {6000, 2000}},
                {"base n=32", 50, 9, 12, {6000, 2000}}};
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < 2 * sizeof mean / sizeof *mean; i++) {
        char text[256];
        hd_graph *g;
        const bool exact = i % 2;
        snprintf(text, sizeof text,
                 "graph g {\n input x i8[1,%d,%d,%d]\n"
                 " y ? = qmean(x) x_zp=3 x_scale=%g scale=%g y_zp=-7 lo=-128 hi=127\n output y\n}",
                 mean[i / 2].c, mean[i / 2].h, mean[i / 2].w, exact ? 1 : 0.25,
                 exact ? 0.0625 : 0.5);
        if (hd_graph_parse(ctx, text, "net", &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        int64_t cycles = run(ctx, mean[i / 2].machine, g, 64);
        if (cycles >= mean[i / 2].cycles[exact])
            fail_msg("case %zu: %lld cycles", i, (long long)cycles);
    }
    hd_ctx_destroy(ctx);
}

/* Norms of rows of any length, behind a sum, which leaves something in lanes that no channel has.
 * MX makes the means, with a mask for the last word. */
static void norms(void **state) {
    (void)state;
    static const struct {
        const char *machine, *type;
        int rows, c;
    } norm[] = {{"base", "i8", 6, 20},      {"base", "u8", 40, 64}, {"tiny", "i8", 5, 5},
                {"base", "u8", 33, 7},      {"big", "i8", 100, 70}, {"base k=32", "i8", 9, 80},
                {"base n=32", "u8", 9, 80}, {"tiny", "i8", 3, 2048}}; /* scales take all of PM */
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof norm / sizeof *norm; i++) {
        char *text;
        size_t size;
        hd_graph *g;
        const char *t = norm[i].type;
        const int lo = *t == 'i' ? -128 : 0, rows = norm[i].rows, c = norm[i].c;
        FILE *f = open_memstream(&text, &size);
        fprintf(f, "graph g {\n input a %s[%d,%d]\n", t, rows, c);
        for (int k = 0; k < 2; k++) {
            fprintf(f, " const %c f32[%d] = {", "wv"[k], c);
            for (int j = 0; j < c; j++) fprintf(f, "%s%d", j ? "," : "", 20 + j % 7 - 5 * k);
            fprintf(f, "}\n");
        }
        fprintf(f,
                " s ? = qadd(a, a) to=\"%s\" y_zp=%d lo=%d hi=%d a_zp=3 b_zp=5 a_scale=0.5\n"
                " y ? = qlayernorm(s, w, v) to=\"i8\" y_zp=3 lo=-128 hi=127 epsilon=0.5\n"
                " output y\n}",
                t, lo + 77, lo, lo + 255);
        fclose(f);
        if (hd_graph_parse(ctx, text, "net", &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        run(ctx, norm[i].machine, g, 64);
        free(text);
    }
    hd_ctx_destroy(ctx);
}

/* Signals that do not fit on chip move in parts of a row, also where their length is a prime. */
static void long_signals(void **state) {
    (void)state;
    static const char *const moves[] = {
        " y ? = concat(x, x, c) axis=3\n",
        " y ? = slice(x, from, to, axis, back)\n",
        " y ? = pad(x, pads, fill)\n",
        " t ? = transpose(x) perm=[0,2,1,3]\n y i8[1,16,1,2503] = reshape(t) shape=[1,16,1,2503]\n",
        " y ? = slice(x, axis, most, axis, axis)\n",
    };
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        char text[1024];
        hd_graph *g = NULL;
        snprintf(
            text, sizeof text,
            "graph g {\n input s i8[1,16,1,2503]\n const c i8[1,16,1,1] = {1,2,3,4,5,6,7,8,9,10,"
            "11,12,13,14,15,16}\n const from i64[1] = {-1}\n const to i64[1] = {-5000}\n"
            " const axis i64[1] = {3}\n const back i64[1] = {-2}\n const most i64[1] = {2400}\n"
            " const pads i64[8] = {0,0,0,5,0,0,0,6}\n const fill i8[] = {7}\n"
            " x ? = qmaxpool(s) kernel_shape=[1,3] pads=[0,1,0,1]\n%s"
            " z ? = qmaxpool(y) kernel_shape=[1,3] pads=[0,1,0,1]\n output z\n}",
            moves[i]);
        if (hd_graph_parse(ctx, text, "net", &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
            fail_msg("%s\n%s", hd_message(ctx), text);
        run(ctx, "tiny", g, 64);
    }
    hd_ctx_destroy(ctx);
}

/* Rows as long as half of AM holds: a softmax has no parameters that must fit, too. */
static void longest_softmax(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx,
                       "graph g {\n input x i8[3,4080]\n"
                       " y ? = qsoftmax(x) axis=1 to=\"i8\" x_scale=0x1p-4 scale=4096.0 y_zp=-128\n"
                       " output y\n}",
                       "net", &g) != HD_OK ||
        hd_graph_infer(ctx, g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    run(ctx, "tiny", g, 64);
    hd_ctx_destroy(ctx);
}

/* An lstm whose weights WM just fails to hold: those of x give way after all products of x, so that
 * those of h need not come again in every step (256 KiB of 320: 6,000 cycles a step). */
static void weights_take_turns(void **state) {
    (void)state;
    enum { INPUTS = 64, UNITS = 256, STEPS = 20, GATES = 4 * UNITS };
    static int8_t w[GATES * INPUTS], r[GATES * UNITS];
    static int32_t bias[2 * GATES];
    static float scale[2 * GATES];
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    for (size_t i = 0; i < sizeof w; i++) w[i] = (int8_t)(i * 37 + i / 7);
    for (size_t i = 0; i < sizeof r; i++) r[i] = (int8_t)(i * 53 + i / 11);
    for (int i = 0; i < 2 * GATES; i++)
        bias[i] = i * 7 % 2001 - 1000, scale[i] = 1.0f / (32 * (i < GATES ? INPUTS : UNITS));
    int in[5], y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    in[0] = hd_graph_tensor(g, "x", HD_I8, 3, (int64_t[]){STEPS, 1, INPUTS});
    in[1] = hd_graph_const(g, "w", HD_I8, 3, (int64_t[]){1, GATES, INPUTS}, w);
    in[2] = hd_graph_const(g, "r", HD_I8, 3, (int64_t[]){1, GATES, UNITS}, r);
    in[3] = hd_graph_const(g, "bias", HD_I32, 3, (int64_t[]){1, 2, GATES}, bias);
    in[4] = hd_graph_const(g, "scale", HD_F32, 3, (int64_t[]){1, 2, GATES}, scale);
    int node = hd_graph_node(g, HD_IR_qlstm, "layer", 5, in, 1, &y);
    hd_attr_set_float(g, node, "scale", 127);
    hd_graph_input(g, in[0]);
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_true(run(ctx, "base", g, 64) < 60000);
    hd_ctx_destroy(ctx);
}

/* A softmax keeps VX busy, the product behind it, which does not read it, MX: at the same time. */
static void beside_each_other(void **state) {
    (void)state;
    enum { ROWS = 256, WIDTH = 128 };
    static int8_t w[WIDTH * WIDTH];
    static int32_t bias[WIDTH];
    int64_t width = WIDTH, one = 1, vx = ROWS * WIDTH / 16 * (4 + 2 + 1), mx = ROWS * 8 * 8;
    float scale = 1.0f / (8 * WIDTH);
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    for (size_t i = 0; i < sizeof w; i++) w[i] = (int8_t)(i * 37 + i / 7);
    int x = hd_graph_tensor(g, "x", HD_I8, 2, (int64_t[]){ROWS, WIDTH}), id,
        s = hd_graph_tensor(g, "s", HD_I8, 0, NULL), p = hd_graph_tensor(g, "p", HD_I8, 0, NULL),
        y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);
    id = hd_graph_node(g, HD_IR_qsoftmax, "softmax", 1, &x, 1, &s);
    hd_attr_set_int(g, id, "axis", 1);
    hd_attr_set_float(g, id, "x_scale", 0.02f), hd_attr_set_float(g, id, "scale", 256);
    int in[4] = {x, hd_graph_const(g, "w", HD_I8, 2, (int64_t[]){WIDTH, WIDTH}, w),
                 hd_graph_const(g, "b", HD_I32, 1, &width, bias),
                 hd_graph_const(g, "m", HD_F32, 1, &one, &scale)};
    hd_graph_node(g, HD_IR_qgemm, "product", 4, in, 1, &p);
    id = hd_graph_node(g, HD_IR_qadd, "sum", 2, (int[]){s, p}, 1, &y);
    hd_attr_set_float(g, id, "a_scale", 0.5f), hd_attr_set_float(g, id, "b_scale", 0.5f);
    hd_graph_input(g, x);
    hd_graph_output(g, y);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    /* 24,948 one after the other; both read x, VX where MX does not */
    assert_true(run(ctx, "base", g, 64) < mx + vx * 13 / 32);
    hd_ctx_destroy(ctx);
}

/* What streams goes through banks enough: VX writes one while ST reads the other. By the counters
 * of the ISS, since the estimate does not know that wait. */
static void streams_have_banks(void **state) {
    (void)state;
    enum { BYTES = 128 * 768 };
    static int8_t a[BYTES], b[BYTES], y[BYTES];
    struct hd_compile_options o = {.latency_hiding = true};
    struct hd_counters k;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    hd_model *m = NULL;
    hd_session *s;
    if (hd_graph_parse(ctx,
                       "graph g {\n input a i8[1,128,768]\n input b i8[1,128,768]\n"
                       " y ? = qadd(a, b) a_scale=0.5 b_scale=0.5\n output y\n}",
                       "net", &g) != HD_OK ||
        hd_graph_infer(ctx, g) != HD_OK || hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_lower(ctx, g, &o, &m) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    struct hd_device_options d = {.machine = m->machine};
    if (hd_session_open(ctx, m, "iss", &d, &s) != HD_OK ||
        hd_session_run(ctx, s, (const void *[]){a, b}, (void *[]){y}) != HD_OK ||
        hd_session_counters(ctx, s, &k) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_in_range(k.cycles, 2 * BYTES / 16, 2 * BYTES / 16 * 11 / 10);
    hd_session_close(s);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* More than 65535 rows of the last dimension, for all that works on rows. */
static void many_rows(void **state) {
    (void)state;
    static const char *const body[] = {
        " input x i8[1,5,300,250]\n t i8[1,300,250,5] = transpose(x) perm=[0,2,3,1]\n"
        " s ? = qsoftmax(t) axis=3 to=\"i8\" x_scale=0x1p-4 scale=256.0 y_zp=-128\n"
        " y ? = qadd(t, s) to=\"i8\" y_zp=3 lo=-128 hi=127 a_zp=3 b_zp=5 a_scale=0.5\n",
        " input x i8[2,300,200,5]\n y ? = qlayernorm(x, w, v) to=\"i8\" y_zp=3 lo=-128 hi=127 "
        "epsilon=0.5\n",
        " input x i8[3,250,100,5]\n m ? = qrescale(x) scale=0.75 to=\"i8\"\n"
        " r i8[75000,5] = reshape(m) shape=[75000,5]\n"
        " q ? = qgemm(r, d, b, e) to=\"i8\" y_zp=3 lo=-128 hi=127\n"
        " y i8[250,300,3] = reshape(q) shape=[250,300,3]\n",
        " input x i8[70000,3]\n z ? = qrescale(x) scale=0.75 to=\"i8\"\n"
        " y ? = qadd(x, z) to=\"i8\" lo=-128 hi=127 a_scale=0.5\n",
        " input x i8[300,250,5]\n const f i64[1] = {7}\n const l i64[1] = {8}\n"
        " const o i64[1] = {0}\n m ? = qrescale(x) scale=0.75 to=\"i8\"\n z ? = slice(m, f, l, o)\n"
        " y i8[300,250,5] = qadd(m, z) to=\"i8\" lo=-128 hi=127 a_scale=0.5\n",
        " input x i8[300,150,16]\n m ? = qrescale(x) scale=0.75 to=\"i8\"\n"
        " t i8[150,300,16] = transpose(m) perm=[1,0,2]\n"
        " y ? = qrescale(t) scale=0.75 to=\"i8\"\n",
        " input x i8[1100,60,16]\n r ? = qrescale(x) scale=0.75 to=\"i8\"\n"
        " t i8[1100,16,60] = transpose(r) perm=[0,2,1]\n"
        " y ? = qmatmul(x, t) scale=0x1p-9 to=\"i8\"\n"};
    static const char *const machine[] = {
        "base", "base k=8 n=8 xm_bytes=4194304 am_bytes=2097152"}; /* holds more rows than a loop */
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < 2 * sizeof body / sizeof *body; i++) {
        char text[1024];
        hd_graph *g;
        snprintf(text, sizeof text,
                 "graph g {\n const w f32[5] = {20,21,22,23,24}\n const v f32[5] = {9,8,7,6,5}\n"
                 " const d i8[3,5] = {1,-2,3,4,-5,6,7,-8,9,1,2,3,4,-5,6}\n"
                 " const b i32[3] = {5,6,7}\n const e f32[3] = {0.25,0.5,0.125}\n%s output y\n}",
                 body[i / 2]);
        if (hd_graph_parse(ctx, text, "net", &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
            fail_msg("%zu: %s", i, hd_message(ctx));
        hd_model *made = golden_is_iss(ctx, g, machine[i % 2], 64), *loaded = NULL;
        char path[] = "/tmp/heddle_rows_XXXXXX";
        assert_int_equal(made->n_host_ops, 0);
        close(mkstemp(path));
        if (hd_model_save(ctx, made, path) != HD_OK || hd_model_load(ctx, path, &loaded) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        remove(path);
        hd_model_destroy(loaded);
        hd_model_destroy(made);
    }
    hd_ctx_destroy(ctx);
}

/* Addresses in DRAM have 32 bits: what goes beyond stays on the host. */
static void too_many_activations(void **state) {
    (void)state;
    struct hd_compile_options o = {.latency_hiding = true, .mem_latency = 64};
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m;
    hd_graph *g;
    const char *text =
        "graph deep {\n input x i8[1,16,11000,11000]\n"
        " a ? = qrescale(x) scale=0.75 to=\"i8\"\n"
        " b ? = qrescale(a) scale=0.75 to=\"i8\"\n"
        " c ? = qadd(x, a) to=\"i8\" lo=-128 hi=127 a_scale=0.5\n"
        " y ? = qadd(b, c) to=\"i8\" lo=-128 hi=127 a_scale=0.5\n output a\n output y\n}";
    assert_int_equal(load_machine(ctx, "base xm_bytes=4194304", &o.machine), HD_OK);
    assert_int_equal(hd_graph_parse(ctx, text, "net", &g), HD_OK);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    assert_int_equal(hd_lower(ctx, g, &o, &m), HD_OK);
    assert_true(m->arena_bytes <= UINT32_MAX);
    assert_true(m->n_host_ops > 0);
    if (!strstr(m->host_ops[0].reason, "the machine addresses 4294967295"))
        fail_msg("%s", m->host_ops[0].reason);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sequences),
                                       cmocka_unit_test(weights_tell_window),
                                       cmocka_unit_test(deep_windows),
                                       cmocka_unit_test(wide_tiles),
                                       cmocka_unit_test(patches),
                                       cmocka_unit_test(turned_windows),
                                       cmocka_unit_test(latency_counts),
                                       cmocka_unit_test(pools_in_two_steps),
                                       cmocka_unit_test(pools_down),
                                       cmocka_unit_test(means),
                                       cmocka_unit_test(norms),
                                       cmocka_unit_test(longest_softmax),
                                       cmocka_unit_test(long_signals),
                                       cmocka_unit_test(many_rows),
                                       cmocka_unit_test(too_many_activations),
                                       cmocka_unit_test(weights_take_turns),
                                       cmocka_unit_test(beside_each_other),
                                       cmocka_unit_test(streams_have_banks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
