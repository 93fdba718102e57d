/* Partition: which parts of a network go to the machine, by cost; what moves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "test/stages/round_trip.h"

static hd_model *lowered(hd_ctx *ctx, const char *text, bool place_all) {
    struct hd_compile_options o = {.latency_hiding = true, .place_all = place_all};
    hd_graph *g = NULL;
    hd_model *m = NULL;
    if (hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(ctx, text, "net", &g) != HD_OK || hd_lower(ctx, g, &o, &m) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    hd_graph_destroy(g);
    return m;
}

static const struct hd_host_op *on_host(const hd_model *m, const char *op) {
    for (int i = 0; i < m->n_host_ops; i++)
        if (!strcmp(m->host_ops[i].op, op)) return &m->host_ops[i];
    return NULL;
}

static int layers_of(const hd_model *m, const char *op) {
    int n = 0;
    for (int i = 0; i < m->n_layers; i++) n += !strcmp(m->layers[i].op, op);
    return n;
}

static void small_parts_stay_on_the_host(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char head[] =
        "graph g {\n input x i8[1,64,%d,%d]\n const q f32[] = {0.5}\n const z i8[] = {0}\n"
        " a i8[1,64,%d,%d] = qmaxpool(x) kernel_shape=[9,9] pads=[4,4,4,4]\n"
        " d f32[1,64,%d,%d] = dequantize(a, q, z)\n"
        " e f32[1,64,%d,%d] = lpnorm(d) axis=1 p=2\n"
        " f i8[1,64,%d,%d] = quantize(e, q, z)\n"
        " r i8[1,64,1,1] = qmean(f) x_scale=1 scale=1\n"
        " output r\n}";
    char text[1024];
    snprintf(text, sizeof text, head, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3);
    hd_model *m = lowered(ctx, text, false);
    const struct hd_host_op *h = on_host(m, "qmaxpool");
    if (!h) h = on_host(m, "qmean");
    assert_non_null(h); /* 640 numbers: 10 us for the start alone */
    assert_non_null(strstr(h->reason, "us on the machine"));
    assert_true(h->ns > 0);
    assert_int_equal(m->n_layers, 1); /* never everything */
    hd_model_destroy(m);
    m = lowered(ctx, text, true);
    assert_int_equal(m->n_layers, 2);
    hd_model_destroy(m);
    snprintf(text, sizeof text, head, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50);
    m = lowered(ctx, text, false);
    assert_int_equal(m->n_layers, 2);
    assert_null(on_host(m, "qmean"));
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
}

/* Rows that whole words of k reach over belong to the second operand of a product, though its own
 * are a multiple of 64; a softmax over a middle dimension, and what
 * wants its result as an image, stay on the host. */
static void products_and_layouts_that_meet(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = lowered(ctx,
                          "graph g {\n input a i8[8,4,8]\n input w i8[8,8,32]\n"
                          " y i8[8,4,32] = qmatmul(a, w) scale=0x1p-8\n output y\n}",
                          true);
    assert_int_equal(layers_of(m, "qmatmul"), 1);
    assert_true(m->arena_bytes >= (8 * 4 + 8 * 8 + 8) * 32);
    hd_model_destroy(m);
    m = lowered(ctx,
                "graph g {\n input x i8[1,6,5,16]\n"
                " m i8[1,6,5,16] = qmaxpool(x) kernel_shape=[3,3] pads=[1,1,1,1]\n"
                " s i8[1,6,5,16] = qsoftmax(m) axis=2 x_scale=0x1p-4 scale=100.0\n"
                " n i8[1,6,5,16] = qmaxpool(s) kernel_shape=[3,3] pads=[1,1,1,1]\n output n\n}",
                true);
    assert_int_equal(layers_of(m, "qmaxpool"), 1);
    const struct hd_host_op *softmax = on_host(m, "qsoftmax");
    assert_non_null(softmax);
    assert_non_null(strstr(softmax->reason, "another dimension"));
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
}

/* Where a reader wants rows and a maker makes images, or the other way round, a node that moves
 * data stands between; readers of one tensor share it. */
static void bridges_between_layouts(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    const char *text = "graph g {\n input x i8[1,6,5,16]\n"
                       " m ? = qmaxpool(x) kernel_shape=[3,3] pads=[1,1,1,1]\n"
                       " s ? = qsoftmax(m) axis=3 x_scale=0x1p-4 scale=100.0\n"
                       " t ? = qsoftmax(m) axis=3 x_scale=0x1p-5 scale=100.0\n"
                       " p ? = qmul(m, s) scale=0x1p-6\n"
                       " n ? = qmaxpool(t) kernel_shape=[3,3] pads=[1,1,1,1]\n"
                       " u ? = qsoftmax(n) axis=1 x_scale=0x1p-5 scale=100.0\n"
                       " output p\n output u\n}";
    struct hd_compile_options o = {.latency_hiding = true, .place_all = true};
    if (hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(ctx, text, "net", &g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    size_t before = g->n_nodes;
    hd_bridge_layouts(g);
    assert_int_equal(g->n_nodes - before, 3); /* m for s and t, s for p, t for n */
    hd_model *m = NULL;
    if (round_trip(ctx, g, &o) != HD_OK || hd_lower(ctx, g, &o, &m) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    for (int i = 0; i < m->n_host_ops; i++)
        fail_msg("%s: %s", m->host_ops[i].op, m->host_ops[i].reason);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* A transpose that the machine refuses reads what its last reshape only renames: no border of the
 * network is there, and the pool behind it reads an image, not rows. */
static void refused_turns_are_no_border(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "graph g {\n input x i8[32766,1]\n const w i8[520,1] = {1");
    for (int i = 1; i < 520; i++) fprintf(f, ",%d", i % 7);
    fprintf(f, "}\n const b i32[520] = {0");
    for (int i = 1; i < 520; i++) fprintf(f, ",0");
    fprintf(f, "}\n const s f32[1] = {0.5}\n r ? = qgemm(x, w, b, s)\n"
               " a i8[1,32766,520] = reshape(r) shape=[1,32766,520]\n"
               " t ? = transpose(a) perm=[0,2,1]\n"
               " y ? = qmaxpool(t) kernel_shape=[2] strides=[2] pads=[0,0]\n output y\n}");
    fclose(f);
    hd_model *m = lowered(ctx, text, true);
    assert_non_null(on_host(m, "transpose")); /* 17 M elements */
    assert_int_equal(layers_of(m, "qmaxpool"), 1);
    hd_model_destroy(m);
    free(text);
    hd_ctx_destroy(ctx);
}

/* A concat of more operands than a layer reads is one of concats. */
static void many_operands_are_joined_in_groups(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "graph g {\n input x i8[1,16,6,5]\n");
    for (int i = 0; i < 33; i++) fprintf(f, " t%d ? = qrescale(x) scale=%d.0\n", i, i + 1);
    fprintf(f, " y ? = concat(t0");
    for (int i = 1; i < 33; i++) fprintf(f, ", t%d", i);
    fprintf(f, ") axis=1\n z ? = qmaxpool(y) kernel_shape=[2,2]\n output z\n}");
    fclose(f);
    struct hd_compile_options o = {.latency_hiding = true, .place_all = true};
    if (hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(ctx, text, "net", &g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    free(text);
    hd_group_concats(g);
    hd_model *m = NULL;
    if (hd_graph_verify(ctx, g) != HD_OK || round_trip(ctx, g, &o) != HD_OK ||
        hd_lower(ctx, g, &o, &m) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_int_equal(m->n_host_ops, 0);
    assert_int_equal(layers_of(m, "concat"), 0); /* parts of parts */
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Two branches of x, and what becomes of them. */
static hd_model *branches(hd_ctx *ctx, int channels, const char *tail) {
    char text[1024];
    snprintf(text, sizeof text,
             "graph g {\n input x i8[1,%d,12,12]\n"
             " a ? = qrescale(x) scale=0x1p-1\n b ? = qmaxpool(x) kernel_shape=[3,3] "
             "pads=[1,1,1,1]\n%s\n output y\n}",
             channels, tail);
    return lowered(ctx, text, false);
}

static void concat_and_split_move_nothing(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const struct {
        int channels;
        const char *tail;
        int moves;
        const char *op;
    } cases[] = {
        {32, " c ? = concat(a, b) axis=1\n y ? = qavgpool(c) kernel_shape=[2,2]", 0, "concat"},
        {32, " c ? = concat(a, b) axis=2\n y ? = qavgpool(c) kernel_shape=[2,2]", 0, "concat"},
        {24, " c ? = concat(a, b) axis=1\n y ? = qavgpool(c) kernel_shape=[2,2]", 1, "concat"},
        {32, " c ? = concat(a, a) axis=1\n y ? = qavgpool(c) kernel_shape=[2,2]", 1, "concat"},
        {32, " c ? = concat(a, b) axis=1\n d ? = concat(c, a) axis=1\n y ? = qrescale(d)", 1,
         "concat"},
        {48,
         " const n i64[2] = {16,32}\n c ?, d ? = split(a, n) axis=1\n e ? = qrescale(c)\n"
         " y ? = qavgpool(d) kernel_shape=[2,2]",
         0, "split"},
        {48,
         " const n i64[2] = {8,40}\n c ?, d ? = split(a, n) axis=1\n e ? = qrescale(c)\n"
         " y ? = qavgpool(d) kernel_shape=[2,2]",
         2, "split"},
        {48,
         " const s i64[1] = {16}\n const e i64[1] = {40}\n const o i64[1] = {1}\n"
         " c ? = slice(a, s, e, o)\n y ? = qavgpool(c) kernel_shape=[2,2]",
         0, "slice"},
        /* of what has another name: a reshape that only adds dimensions */
        {48,
         " r i8[1,48,12,12] = reshape(a) shape=[1,48,12,12]\n const n i64[2] = {16,32}\n"
         " c ?, d ? = split(r, n) axis=1\n e ? = qrescale(c)\n"
         " y ? = qavgpool(d) kernel_shape=[2,2]",
         0, "split"},
        {32,
         " r i8[1,32,12,12] = reshape(a) shape=[1,32,12,12]\n c ? = concat(r, b) axis=1\n"
         " y ? = qavgpool(c) kernel_shape=[2,2]",
         0, "concat"},
        {32,
         " r i8[1,32,12,12] = reshape(a) shape=[1,32,12,12]\n c ? = concat(r, a) axis=1\n"
         " y ? = qavgpool(c) kernel_shape=[2,2]",
         1, "concat"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hd_model *m = branches(ctx, cases[i].channels, cases[i].tail);
        if (layers_of(m, cases[i].op) != cases[i].moves)
            fail_msg("%s: %d layers, want %d", cases[i].tail, layers_of(m, cases[i].op),
                     cases[i].moves);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

/* Where nothing in the network wants a layout, it is the one that leaves fewer lanes empty. */
static void lanes_decide_layouts(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (int rows = 0; rows < 2; rows++) {
        char text[256];
        snprintf(text, sizeof text,
                 "graph g {\n input x i8[1,%d,4,%d]\n y ? = qadd(x, x)\n output y\n}",
                 rows ? 3 : 32, rows ? 32 : 3);
        hd_model *m = lowered(ctx, text, true);
        assert_int_equal(m->n_layers, 1);
        assert_int_equal(m->values[m->inputs[0]].layout, rows ? HD_LAYOUT_ROWS : HD_LAYOUT_NHWC);
        hd_model_destroy(m);
    }
    hd_ctx_destroy(ctx);
}

/* The same nodes, stored in the opposite order. */
static void turn_nodes(hd_graph *g) {
    for (size_t i = 0, j = g->n_nodes; i + 1 < j--; i++) {
        struct hd_node n = g->nodes[i];
        g->nodes[i] = g->nodes[j];
        g->nodes[j] = n;
    }
    for (size_t t = 0; t < g->n_tensors; t++)
        if (g->tensors[t].producer >= 0)
            g->tensors[t].producer = (int)g->n_nodes - 1 - g->tensors[t].producer;
}

/* Images and rows meet in it, and which layout a tensor takes depends on which wish comes first. */
static void order_of_storage_does_not_count(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_compile_options o = {.keep_all = true, .place_all = true};
    hd_graph *g = NULL;
    hd_model *m = NULL;
    if (hd_machine_load(ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(ctx,
                       "graph g {\n input x i8[3,36]\n r ? = qrescale(x)\n"
                       " a i8[1,3,36] = reshape(r) shape=[1,3,36]\n b ? = qrescale(a)\n"
                       " c i8[1,3,1,36] = reshape(b) shape=[1,3,1,36]\n"
                       " d i8[1,3,1,36] = reshape(r) shape=[1,3,1,36]\n"
                       " e ? = concat(d, c) axis=2\n f ? = qmaxpool(e) kernel_shape=[2,1]\n"
                       " y i8[1,3,36] = reshape(f) shape=[1,3,36]\n z ? = qrescale(y)\n"
                       " output z\n}",
                       "net", &g) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    turn_nodes(g);
    if (round_trip(ctx, g, &o) != HD_OK) fail_msg("%s", hd_message(ctx));
    turn_nodes(g);
    if (round_trip(ctx, g, &o) != HD_OK || hd_lower(ctx, g, &o, &m) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    assert_int_equal(layers_of(m, "qmaxpool"), 1);
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(order_of_storage_does_not_count),
                                       cmocka_unit_test(lanes_decide_layouts),
                                       cmocka_unit_test(products_and_layouts_that_meet),
                                       cmocka_unit_test(bridges_between_layouts),
                                       cmocka_unit_test(refused_turns_are_no_border),
                                       cmocka_unit_test(many_operands_are_joined_in_groups),
                                       cmocka_unit_test(small_parts_stay_on_the_host),
                                       cmocka_unit_test(concat_and_split_move_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
