/* The quantiser: folding is exact, placement reaches q operations, ranges, and files that say what
 * the graph says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/export/export.h"
#include "compiler/pass/pass.h"
#include "compiler/quantize/quantize.h"
#include "cpu_ref/golden.h"

/* A small network with everything that is fused, moved, shared or left alone. */
static const char network[] =
    "graph net {\ninput x f32[1,2,4,4]\n"
    "const w1 f32[3,2,1,1] = {1,-2,0.5,0.25,-1,3}\nconst b1 f32[3] = {0.5,-0.25,0}\n"
    "const s f32[3] = {2,1,-1}\nconst t f32[3] = {0,1,0.5}\nconst m f32[3] = {0.5,0,0}\n"
    "const v f32[3] = {1,4,0.25}\nconst w2 f32[3,1,3,3] = {0,0,0,0,1,0,0,0,0, 1,1,1,1,1,1,1,1,1, "
    "0,1,0,1,-4,1,0,1,0}\nconst k f32[3,1,1] = {1,2,3}\nconst w3 f32[6,2] = "
    "{1,0,0,1,1,1,-1,0,0,-1,0.5,0.5}\nconst b3 f32[2] = {1,-1}\n"
    "c1 ? = conv(x, w1, b1)\nn1 ? = batchnorm(c1, s, t, m, v) epsilon=0x0p+0\nr1 ? = relu(n1)\n"
    "c2 ? = conv(r1, w2) group=3 pads=[1,1,1,1] kernel_shape=[3,3]\nc2b ? = add(c2, k)\n"
    "sum ? = add(c2b, r1)\ng1 ? = sigmoid(sum)\nsw ? = mul(sum, g1)\n"
    "both ? = concat(sw, r1) axis=1\np ? = maxpool(both) kernel_shape=[2,2] strides=[2,2]\n"
    "a ? = avgpool(p) kernel_shape=[2,2]\nf ? = reshape(a) shape=[1,6]\nd ? = matmul(f, w3)\n"
    "y ? = add(d, b3)\nz ? = softmax(y) axis=1\noutput z\n}";

static hd_graph *parse(hd_ctx *ctx, const char *text) {
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

static void fill(float *x, int n, unsigned seed) {
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / 8388608.0f - 1;
    }
}

/* All tensors of a run on x. */
static struct hd_tensor *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a, const float *x) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    return t;
}

static int count(const hd_graph *g, enum hd_ir_op op) {
    int n = 0;
    for (size_t i = 0; i < g->n_nodes; i++) n += !g->nodes[i].dead && g->nodes[i].op == op;
    return n;
}

static void prepared_graph_computes_the_same(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(ctx, network), *p = parse(ctx, network);
    float x[32];
    fill(x, 32, 5);
    if (hd_quant_prepare(ctx, p) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(count(p, HD_IR_batchnorm), 0);
    assert_int_equal(count(p, HD_IR_add), 2); /* the residual one, and the bias of the product */
    const float *want = run(ctx, g, a, x)[g->outputs[0]].data,
                *got = run(ctx, p, a, x)[p->outputs[0]].data;
    for (int i = 0; i < 2; i++) assert_true(fabsf(want[i] - got[i]) < 1e-6f);
    hd_graph_destroy(g);
    hd_graph_destroy(p);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* A network of 8 channels of 2x2 pixels and rows of 4; what is between the operands is one of
 * forms. */
static const struct {
    const char *text; /* c: result of a conv [1,8,2,2]; m: of a matmul [8,4]; makes y */
    enum hd_ir_op gone, made;
    int n_made;
} forms[] = {
    {"  r ? = relu(c)\n  y ? = batchnorm(r, v, b, b, p)\n", HD_IR_batchnorm, HD_IR_conv, 2},
    {"  r ? = relu(c)\n  s ? = mul(r, vc)\n  y ? = add(s, bc)\n", HD_IR_mul, HD_IR_conv, 2},
    {"  y ? = prelu(c, vc)\n", HD_IR_prelu, HD_IR_conv, 2},
    {"  y ? = prelu(c, vc)\n", HD_IR_prelu, HD_IR_neg, 1},
    {"  y ? = prelu(c, sc)\n", HD_IR_prelu, HD_IR_neg, 0}, /* no slope above 1 */
    {"  y ? = prelu(c, half)\n", HD_IR_prelu, HD_IR_leakyrelu, 1},
    {"  d ? = convtranspose(c, w) kernel_shape=[1,1]\n  y ? = batchnorm(d, v, b, b, p)\n",
     HD_IR_batchnorm, HD_IR_convtranspose, 1},
    {"  s ? = add(m, row)\n  y ? = mul(s, row)\n", HD_IR_mul, HD_IR_matmul, 1},
    {"  s ? = add(row, m)\n  y ? = div(s, row)\n", HD_IR_div, HD_IR_matmul, 1},
    {"  y ? = mul(row, m)\n", HD_IR_mul, HD_IR_matmul, 1},
};

static const char *vector(hd_arena *a, const char *name, const char *shape, int n, float from) {
    char *text = hd_sprintf(a, "  const %s f32[%s] = {", name, shape);
    for (int i = 0; i < n; i++)
        text = hd_sprintf(a, "%s%s%g", text, i ? ", " : "",
                          (double)(from + 0.37f * (float)(i * 5 % 8)));
    return hd_sprintf(a, "%s}\n", text);
}

static void forms_with_integers_compute_the_same(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        const char *text =
            hd_sprintf(a,
                       "graph g {\n  input x f32[1,8,2,2]\n%s%s%s%s%s%s%s%s%s"
                       "  const half f32[1] = {0.5}\n  const rows i64[2] = {8, 4}\n"
                       "  c ? = conv(x, w) kernel_shape=[1,1]\n  f ? = reshape(x, rows)\n"
                       "  m ? = matmul(f, q)\n%s  output y\n}\n",
                       vector(a, "w", "8,8,1,1", 64, -1), vector(a, "v", "8", 8, -1.1f),
                       vector(a, "b", "8", 8, -0.7f), vector(a, "p", "8", 8, 0.2f),
                       vector(a, "vc", "8,1,1", 8, -1.3f), vector(a, "bc", "8,1,1", 8, -1),
                       vector(a, "sc", "8,1,1", 8, -1.7f), vector(a, "q", "4,4", 16, -1),
                       vector(a, "row", "4", 4, 0.3f), forms[f].text);
        hd_graph *g = parse(ctx, text), *p = parse(ctx, text);
        float x[32];
        fill(x, 32, 7);
        if (hd_quant_prepare(ctx, p) != HD_OK) fail_msg("%s", hd_message(ctx));
        assert_int_equal(count(p, forms[f].gone), 0);
        assert_int_equal(count(p, forms[f].made), forms[f].n_made);
        const float *want = run(ctx, g, a, x)[g->outputs[0]].data,
                    *got = run(ctx, p, a, x)[p->outputs[0]].data;
        int64_t n = hd_tensor_elems(&g->tensors[g->outputs[0]]);
        for (int64_t i = 0; i < n; i++)
            if (!(fabsf(want[i] - got[i]) < 1e-5f))
                fail_msg("form %zu, %lld: %g, want %g", f, (long long)i, (double)got[i],
                         (double)want[i]);
        hd_graph_destroy(g);
        hd_graph_destroy(p);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

/* Calibrated by n runs of g, into *out. */
static void calibrate(hd_ctx *ctx, hd_arena *a, const hd_graph *g, const struct hd_quant_plan *plan,
                      bool bins, struct hd_quant_stats *stats) {
    for (int round = 0; round < 1 + bins; round++)
        for (unsigned seed = 1; seed < 9; seed++) {
            float x[32];
            fill(x, 32, seed);
            struct hd_tensor *t = run(ctx, g, a, x);
            for (size_t i = 0; i < plan->n_tensors; i++) {
                if (!plan->observe[i]) continue;
                const float *v = i == (size_t)g->inputs[0] ? x : t[i].data;
                if (round && !stats[i].bins)
                    stats[i].bins = hd_new_array(a, uint64_t, HD_QUANT_BINS);
                if (round)
                    hd_quant_count(&stats[i], v, hd_tensor_elems(&g->tensors[i]));
                else
                    hd_quant_observe(&stats[i], &g->tensors[i], 1, v);
            }
        }
}

/* Legalised, nothing but the softmax is float, and the outputs are near. */
static void check_int8(const struct hd_quant_options *o) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(ctx, network), *q = parse(ctx, network), *file = NULL;
    struct hd_quant_plan plan;
    if (hd_quant_prepare(ctx, g) || hd_quant_prepare(ctx, q)) fail_msg("%s", hd_message(ctx));
    hd_quant_choose(a, q, NULL, &plan);
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    calibrate(ctx, a, g, &plan, o->range != HD_RANGE_MINMAX, stats);
    if (hd_quant_apply(ctx, q, &plan, stats, o) != HD_OK) fail_msg("%s", hd_message(ctx));
    char path[] = "/tmp/heddle-quantize-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    if (hd_export_onnx(ctx, q, path) || hd_import(ctx, path, NULL, &file) || hd_legalize(ctx, q) ||
        hd_legalize(ctx, file))
        fail_msg("%s", hd_message(ctx));
    unlink(path);
    close(fd);
    assert_int_equal(count(q, HD_IR_qconv), 2);
    assert_int_equal(count(q, HD_IR_qgemm), 1);
    assert_int_equal(count(q, HD_IR_qadd), 1);
    assert_int_equal(count(q, HD_IR_qtable), 1);
    assert_int_equal(count(q, HD_IR_qmaxpool), 1);
    assert_int_equal(count(q, HD_IR_concat), 1);
    assert_int_equal(count(q, HD_IR_qavgpool) + count(q, HD_IR_qmean), 1);
    assert_int_equal(count(q, HD_IR_quantize), 1);
    assert_int_equal(count(q, HD_IR_dequantize), 1);
    assert_int_equal(count(q, HD_IR_qrescale), 0); /* what meets in the concat shares its scale */
    for (unsigned seed = 1; seed < 9; seed++) {
        float x[32];
        fill(x, 32, seed);
        const float *want = run(ctx, g, a, x)[g->outputs[0]].data,
                    *got = run(ctx, q, a, x)[q->outputs[0]].data,
                    *read = run(ctx, file, a, x)[file->outputs[0]].data;
        for (int i = 0; i < 2; i++) assert_true(fabsf(want[i] - got[i]) < 0.05f);
        assert_memory_equal(got, read, 2 * sizeof *got);
    }
    hd_graph_destroy(g);
    hd_graph_destroy(q);
    hd_graph_destroy(file);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void int8_network_is_near(void **state) {
    (void)state;
    for (int range = 0; range < 3; range++)
        for (int form = 0; form < 4; form++) {
            struct hd_quant_options o = {.range = (enum hd_quant_range)range,
                                         .percentile = 99.9,
                                         .symmetric = form & 1,
                                         .type = form & 2 ? HD_U8 : HD_I8};
            check_int8(&o);
        }
}

static int put_const(char *to, const char *name, const char *shape, int n, unsigned seed) {
    float v[128];
    fill(v, n, seed);
    int len = sprintf(to, "const %s f32[%s] = {", name, shape);
    for (int i = 0; i < n; i++)
        len += sprintf(to + len, "%s%.3f", i ? "," : "", (double)v[i] * 0.8);
    return len + sprintf(to + len, "}\n");
}

/* A bidirectional lstm with a state to begin with, beyond what it makes; a gru and an rnn behind
 * it; the last c stays float. */
static char *recurrent_network(hd_arena *a) {
    static const struct {
        const char *name, *shape;
        int n;
    } consts[] = {{"w", "2,12,4", 96}, {"r", "2,12,3", 72}, {"b", "2,24", 48},
                  {"c0", "2,2,3", 12}, {"u", "1,6,6", 36},  {"v", "1,6,2", 12},
                  {"bu", "1,12", 12},  {"p", "1,2,2", 4},   {"q", "1,2,2", 4}};
    char *text = hd_alloc(a, 16384);
    int len = sprintf(text, "graph net {\ninput x f32[4,2,4]\n");
    for (unsigned i = 0; i < sizeof consts / sizeof *consts; i++)
        len += put_const(text + len, consts[i].name, consts[i].shape, consts[i].n, i + 20);
    sprintf(text + len,
            "const h0 f32[2,2,3] = {2,0,-2,1,1,1,0,0,0,2,2,-2}\nconst ax i64[1] = {1}\n"
            "y ?, yh ?, yc ? = lstm(x, w, r, b, -, h0, c0) direction=\"bidirectional\"\n"
            "t ? = transpose(y) perm=[0,2,1,3]\nf ? = reshape(t) shape=[4,2,6]\n"
            "g ?, gh ? = gru(f, u, v, bu) linear_before_reset=1\ns ? = squeeze(g, ax)\n"
            "z ? = rnn(s, p, q) direction=\"reverse\" activations=\"Relu\"\n"
            "output z\noutput yh\noutput yc\n}");
    return text;
}

static void recurrent_layers(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    const char *text = recurrent_network(a);
    hd_graph *g = parse(ctx, text), *q = parse(ctx, text), *file = NULL;
    struct hd_quant_options o = {.type = HD_I8};
    struct hd_quant_plan plan;
    if (hd_quant_prepare(ctx, g) || hd_quant_prepare(ctx, q)) fail_msg("%s", hd_message(ctx));
    hd_quant_choose(a, q, NULL, &plan);
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    calibrate(ctx, a, g, &plan, false, stats);
    if (hd_quant_apply(ctx, q, &plan, stats, &o) != HD_OK) fail_msg("%s", hd_message(ctx));
    char path[] = "/tmp/heddle-quantize-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    if (hd_export_onnx(ctx, q, path) || hd_import(ctx, path, NULL, &file) || hd_legalize(ctx, q) ||
        hd_legalize(ctx, file))
        fail_msg("%s", hd_message(ctx));
    unlink(path);
    close(fd);
    enum hd_ir_op none[] = {HD_IR_lstm, HD_IR_gru, HD_IR_rnn, HD_IR_qrescale};
    enum hd_ir_op one[] = {HD_IR_qlstm, HD_IR_qgru, HD_IR_qrnn, HD_IR_quantize};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(count(q, none[i]), 0);
        assert_int_equal(count(q, one[i]), 1);
    }
    for (unsigned seed = 1; seed < 9; seed++) {
        float x[32];
        fill(x, 32, seed);
        const struct hd_tensor *want = run(ctx, g, a, x), *got = run(ctx, q, a, x),
                               *read = run(ctx, file, a, x);
        for (int k = 0; k < 3; k++) {
            const struct hd_tensor *w = &want[g->outputs[k]], *y = &got[q->outputs[k]];
            int64_t n = hd_tensor_elems(w);
            for (int64_t i = 0; i < n; i++)
                assert_true(fabsf(((const float *)w->data)[i] - ((const float *)y->data)[i]) <
                            0.05f);
            assert_memory_equal(y->data, read[file->outputs[k]].data, (size_t)n * sizeof(float));
        }
    }
    hd_graph_destroy(g);
    hd_graph_destroy(q);
    hd_graph_destroy(file);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void what_is_kept_stays_float(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(ctx, network);
    struct hd_quant_plan plan;
    if (hd_quant_prepare(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    const char **keep = hd_new_array(a, const char *, g->n_nodes + 1);
    int conv = g->tensors[hd_tensor_by_name(g, "c2b")].producer;
    keep[conv] = "asked for by --keep";
    hd_quant_choose(a, g, keep, &plan);
    assert_string_equal(plan.why[conv], "asked for by --keep");
    assert_false(plan.layer[conv]);
    /* and so does the sum behind it, but not the product */
    assert_string_equal(plan.why[g->tensors[hd_tensor_by_name(g, "sum")].producer],
                        "an operand is float");
    assert_true(plan.made[hd_tensor_by_name(g, "y")]);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* Two layers that meet in a concat, whose reader has to know which channels are whose. */
static void even_peaks_compute_the_same(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(
        ctx, "graph g {\ninput x f32[1,2,4,4]\nconst w f32[2,2,1,1] = {16,1,0.5,-0.25}\n"
             "const b f32[2] = {1,0.5}\nconst v f32[1,2,1,1] = {-3,2}\nconst u f32[1,3,1,1] = "
             "{1,2,-4}\n"
             "c ? = conv(x, w, b)\nr ? = relu(c)\nd ? = conv(x, v)\ne ? = concat(d, r) axis=1\n"
             "p ? = maxpool(e) kernel_shape=[2,2]\ny ? = conv(p, u)\noutput y\n}");
    struct hd_quant_plan plan;
    hd_quant_choose(a, g, NULL, &plan);
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    int r = hd_tensor_by_name(g, "r");
    stats[r].channels = 2;
    stats[r].peak = hd_new_array(a, float, 2);
    float x[32], want[9];
    fill(x, 32, 5);
    struct hd_tensor *t = run(ctx, g, a, x);
    memcpy(want, t[g->outputs[0]].data, sizeof want);
    hd_quant_observe(&stats[r], &g->tensors[r], 1, t[r].data);
    assert_true(stats[r].peak[0] > 10 * stats[r].peak[1]);
    assert_int_equal(hd_quant_equalise(g, &plan, stats), 1);
    t = run(ctx, g, a, x);
    for (int i = 0; i < 9; i++)
        assert_true(fabsf(want[i] - ((const float *)t[g->outputs[0]].data)[i]) < 1e-4f);
    float before = stats[r].peak[1] / stats[r].peak[0];
    memset(stats[r].peak, 0, 2 * sizeof(float));
    hd_quant_observe(&stats[r], &g->tensors[r], 1, t[r].data);
    assert_true(fabsf(stats[r].peak[1] / stats[r].peak[0] - sqrtf(before)) < 1e-4f);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void ranges_leave_out_what_they_should(void **state) {
    (void)state;
    uint64_t bins[HD_QUANT_BINS] = {0};
    struct hd_quant_stats s = {.lo = 0, .hi = 2048, .bins = bins};
    for (int i = 0; i < 512; i++) s.n += bins[i] = 1000; /* all below 512, */
    s.n += bins[2047] = 1;                               /* and one far away */
    struct hd_quant_options o = {.range = HD_RANGE_PERCENTILE, .percentile = 99.9, .type = HD_I8};
    float lo, hi, scale;
    int32_t zero;
    hd_quant_clip(&s, &o, &lo, &hi);
    assert_true(hi == 512 && lo == 0);
    s.n = 1;
    for (int i = 0; i < 1024; i++) /* a bell this time */
        s.n += bins[i] = (uint64_t)(1e6 * exp(-i * i / 45000.0));
    o.range = HD_RANGE_ENTROPY;
    hd_quant_clip(&s, &o, &lo, &hi);
    assert_true(hi >= 300 && hi < 1200 && lo == 0);
    o.range = HD_RANGE_MINMAX;
    hd_quant_clip(&s, &o, &lo, &hi);
    assert_true(hi == 2048);
    hd_quant_params(0, 255, &o, &scale, &zero);
    assert_true(scale == 1 && zero == -128);
    hd_quant_params(-127, 20, &(struct hd_quant_options){.symmetric = true, .type = HD_U8}, &scale,
                    &zero);
    assert_true(scale == 1 && zero == 128);
    hd_quant_params(0, 0, &o, &scale, &zero);
    assert_true(scale == 1 && zero == -128);
}

/* Prepared it computes the same; quantised nothing of it is left in float, averages over the border
 * included. */
static void response_norm_and_border_averages(void **state) {
    static const char text[] =
        "graph net {\ninput x f32[1,2,4,4]\n"
        "const w f32[5,2,1,1] = {3,-2,0.5,5,-4,3,1,1,2,-3}\n"
        "c ? = conv(x, w)\nl ? = lrn(c) size=3 alpha=0x1p-2 beta=0x1.8p-1 bias=0x1p+1\n"
        "y ? = avgpool(l) kernel_shape=[3,3] pads=[1,1,0,1] strides=[2,1]\noutput y\n}";
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(ctx, text), *q = parse(ctx, text);
    struct hd_quant_options o = {.type = HD_I8};
    struct hd_quant_plan plan;
    if (hd_quant_prepare(ctx, q) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(count(q, HD_IR_lrn), 0);
    int64_t elems = hd_tensor_elems(&g->tensors[g->outputs[0]]);
    float x[32];
    fill(x, 32, 5);
    const float *want = run(ctx, g, a, x)[g->outputs[0]].data,
                *got = run(ctx, q, a, x)[q->outputs[0]].data;
    for (int64_t i = 0; i < elems; i++) assert_true(fabsf(want[i] - got[i]) < 1e-5f);
    hd_quant_choose(a, q, NULL, &plan);
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    calibrate(ctx, a, q, &plan, false, stats);
    if (hd_quant_apply(ctx, q, &plan, stats, &o) != HD_OK || hd_legalize(ctx, q) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_int_equal(count(q, HD_IR_qconv), 2);
    assert_int_equal(count(q, HD_IR_qtable), 2); /* the square, too */
    assert_int_equal(count(q, HD_IR_qmul), 2);
    assert_int_equal(count(q, HD_IR_qavgpool), 1);
    assert_int_equal(count(q, HD_IR_quantize) + count(q, HD_IR_dequantize), 2);
    for (unsigned seed = 1; seed < 9; seed++) {
        double signal = 0, noise = 0;
        fill(x, 32, seed);
        want = run(ctx, g, a, x)[g->outputs[0]].data;
        got = run(ctx, q, a, x)[q->outputs[0]].data;
        for (int64_t i = 0; i < elems; i++) {
            signal += (double)(want[i] * want[i]);
            noise += (double)((want[i] - got[i]) * (want[i] - got[i]));
        }
        assert_true(signal > 1000 * noise); /* 30 dB */
    }
    hd_graph_destroy(g);
    hd_graph_destroy(q);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static bool norm_has_summand(const hd_graph *g) {
    const struct hd_node *n = &g->nodes[hd_node_by_name(g, "n")];
    const struct hd_tensor *b = &g->tensors[n->in[2]];
    for (int i = 0; i < 3; i++)
        if (((const float *)b->data)[i] != 0) return true;
    return false;
}

/* Into a bias that is there, into a sum, into none at all; not where a sum reads the norm, too. */
static void summands_of_norms_go_on(void **state) {
    static const char head[] = "graph net {\ninput x f32[2,3]\n"
                               "const s f32[3] = {2,-1,0.5}\nconst b f32[3] = {3,-2,0.25}\n"
                               "const w f32[2,3] = {1,2,-3,4,0.5,-6}\nconst c f32[2] = {5,-1}\n"
                               "const v f32[3,2] = {1,-2,3,0.5,-1,4}\n"
                               "n ? = layernorm(x, s, b) @n\n";
    static const char *const tail[] = {
        "y ? = gemm(n, w, c) transB=1\noutput y\n}",
        "m ? = matmul(n, v)\ny ? = add(c, m)\noutput y\n}", "y ? = matmul(n, v)\noutput y\n}",
        "m ? = matmul(n, v)\np ? = gemm(n, w, c) transB=1\ny ? = add(m, p)\noutput y\n}",
        "m ? = matmul(n, v)\nk ? = matmul(m, w)\ny ? = add(k, n)\noutput y\n}"};
    (void)state;
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        const char *text = hd_sprintf(a, "%s%s", head, tail[i]);
        hd_graph *g = parse(ctx, text), *q = parse(ctx, text);
        if (hd_quant_prepare(ctx, q) != HD_OK) fail_msg("%s", hd_message(ctx));
        assert_int_equal(norm_has_summand(q), i == 4);
        float x[6];
        fill(x, 6, 7);
        const float *want = run(ctx, g, a, x)[g->outputs[0]].data,
                    *got = run(ctx, q, a, x)[q->outputs[0]].data;
        assert_string_equal(q->tensors[q->outputs[0]].name, "y");
        for (int64_t k = 0; k < hd_tensor_elems(&g->tensors[g->outputs[0]]); k++)
            assert_true(fabsf(want[k] - got[k]) < 1e-5f);
        hd_graph_destroy(g);
        hd_graph_destroy(q);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

static void what_onnx_lacks_is_refused(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parse(ctx, "graph g {\ninput x i8[2]\nconst s f32[] = {1}\n"
                             "y ? = qrescale(x) scale=0x1p+0\noutput y\n}");
    assert_int_equal(hd_export_onnx(ctx, g, "/tmp/never"), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(ctx), "cannot be written as ONNX"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* A network in float16: its weights are read, and inputs and outputs keep their type. 15360 are the
 * bits of 1, 48128 those of -1. */
static void half_weights(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g =
        parse(ctx, "graph net {\ninput x f16[1,1,2,2]\nconst w f16[2,1,1,1] = {15360,48128}\n"
                   "c ? = conv(x, w)\ny ? = relu(c)\noutput y\n}");
    struct hd_quant_plan plan;
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    if (hd_quant_prepare(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    hd_quant_choose(a, g, NULL, &plan);
    int layers = 0;
    for (size_t i = 0; i < plan.n_nodes; i++) layers += plan.layer[i];
    assert_true(layers >= 1);
    assert_int_equal(g->tensors[g->inputs[0]].dtype, HD_F16);
    assert_int_equal(g->tensors[g->outputs[0]].dtype, HD_F16);
    assert_string_equal(g->tensors[g->outputs[0]].name, "y");
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = (uint16_t[]){15360, 48128, 0, 15360};
    if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_memory_equal(t[g->outputs[0]].data, ((uint16_t[]){15360, 0, 0, 15360, 0, 15360, 0, 0}),
                        16);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* What cannot become a pool stays as it is, and nothing is made on the way. */
static void sums_over_rows_stay(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g =
        parse(ctx, "graph net {\ninput x f32[2,5,4]\nconst w f32[4,3] = {1,2,3,4,5,6,7,8,9,1,2,"
                   "3}\nconst a i64[1] = {1}\nh ? = matmul(x, w)\ny ? = reducesum(h, a)\n"
                   "output y\n}");
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    alarm(20); /* it never ended */
    assert_int_equal(hd_quant_prepare(ctx, g), HD_OK);
    alarm(0);
    assert_int_equal(count(g, HD_IR_reducesum), 1);
    assert_int_equal(count(g, HD_IR_transpose), 0);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Equal weights of 1,024 channels: as bytes of 127 their sums could leave int32, so their steps are
 * larger, and the product becomes an integer one. */
static void wide_activations(void **state) {
    (void)state;
    enum { K = 1024 };
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    char *text = hd_sprintf(a, "graph net {\ninput x f32[1,%d]\nconst w f32[%d,1] = {0.5", K, K);
    for (int i = 1; i < K; i++) text = hd_sprintf(a, "%s,0.5", text);
    hd_graph *g =
        parse(ctx, hd_sprintf(a, "%s}\ny ? = matmul(x, w)\nz ? = tanh(y)\noutput z\n}", text));
    struct hd_quant_plan plan;
    if (hd_quant_prepare(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    hd_quant_choose(a, g, NULL, &plan);
    int x = g->inputs[0], y = hd_tensor_by_name(g, "y"), z = hd_tensor_by_name(g, "z");
    assert_true(plan.may_be_wide[plan.group[x]]);
    assert_false(plan.may_be_wide[plan.group[y]] || plan.may_be_wide[plan.group[z]]); /* a table */
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    for (size_t t = 0; t < plan.n_tensors; t++) stats[t].lo = -2, stats[t].hi = 2, stats[t].n = 1;
    struct hd_quant_options o = {.type = HD_I8, .wide = hd_new_array(a, bool, plan.n_tensors + 1)};
    o.wide[plan.group[x]] = true;
    if (hd_quant_apply(ctx, g, &plan, stats, &o) || hd_legalize(ctx, g))
        fail_msg("%s", hd_message(ctx));
    assert_int_equal(count(g, HD_IR_qgemm), 1);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || n->op != HD_IR_qgemm) continue;
        const struct hd_tensor *xt = &g->tensors[n->in[0]], *w = &g->tensors[n->in[1]];
        int64_t sum = 0;
        for (int64_t k = 0; k < K; k++) sum += ((const int8_t *)w->data)[k];
        assert_int_equal(xt->dtype, HD_I16);
        assert_true(sum * 32768 <= INT32_MAX && sum * 32768 > INT32_MAX - K * 32768);
    }
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_rows_stay),
        cmocka_unit_test(wide_activations),
        cmocka_unit_test(half_weights),
        cmocka_unit_test(prepared_graph_computes_the_same),
        cmocka_unit_test(forms_with_integers_compute_the_same),
        cmocka_unit_test(int8_network_is_near),
        cmocka_unit_test(recurrent_layers),
        cmocka_unit_test(what_is_kept_stays_float),
        cmocka_unit_test(even_peaks_compute_the_same),
        cmocka_unit_test(ranges_leave_out_what_they_should),
        cmocka_unit_test(response_norm_and_border_averages),
        cmocka_unit_test(summands_of_norms_go_on),
        cmocka_unit_test(what_onnx_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
