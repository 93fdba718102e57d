/* Pruning: what counts least becomes 0, stays 0 in training, and is left out of the prepared graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "runtime/train/prune.h"
#include "runtime/train/train.h"

/* The second convolution hardly reads channels 0 and 1 of 4. */
static const char network[] = "graph t {\n"
                              "  input x f32[2,1,2,2]\n"
                              "  const s f32[] = {0.02}\n"
                              "  const z i8[] = {0}\n"
                              "  const zr i8[] = {-128}\n"
                              "  const w i8[4,1,1,1] = {100, -90, 80, 70}\n"
                              "  const v i8[2,4,1,1] = {1, -2, 90, 80, 2, 1, -70, 60}\n"
                              "  const m i8[2,3] = {9, -8, 7, 60, -50, 40}\n"
                              "  xq ? = quantize(x, s, z)\n"
                              "  xd ? = dequantize(xq, s, z)\n"
                              "  wd ? = dequantize(w, s, z)\n"
                              "  a ? = conv(xd, wd) kernel_shape=[1,1]\n"
                              "  r ? = relu(a)\n"
                              "  rq ? = quantize(r, s, zr)\n"
                              "  rd ? = dequantize(rq, s, zr)\n"
                              "  vd ? = dequantize(v, s, z)\n"
                              "  c ? = conv(rd, vd) kernel_shape=[1,1]\n"
                              "  cq ? = quantize(c, s, z)\n"
                              "  cd ? = dequantize(cq, s, z)\n"
                              "  p ? = avgpool(cd) kernel_shape=[2,2]\n"
                              "  pq ? = quantize(p, s, z)\n"
                              "  pd ? = dequantize(pq, s, z)\n"
                              "  f ? = reshape(pd) shape=[2,2]\n"
                              "  md ? = dequantize(m, s, z)\n"
                              "  y ? = matmul(f, md)\n"
                              "  yq ? = quantize(y, s, z)\n"
                              "  yd ? = dequantize(yq, s, z)\n"
                              "  output yd\n"
                              "}\n";

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static hd_graph *parsed(hd_ctx *ctx) {
    hd_graph *g = NULL;
    want_ok(ctx, hd_graph_parse(ctx, network, "t", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    return g;
}

static void want_values(const hd_graph *g, const char *name, const char *want) {
    const struct hd_tensor *t = &g->tensors[hd_tensor_by_name(g, name)];
    char got[64] = "";
    for (int64_t i = 0; i < hd_tensor_elems(t); i++)
        strcat(got, ((const int8_t *)t->data)[i] ? "x" : "0");
    assert_string_equal(got, want);
}

static void cuts_words(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parsed(ctx);
    struct hd_pruned done;
    struct hd_prune_options o = {.share = 0.3, .blocks = true, .word = 2};
    want_ok(ctx, hd_prune(ctx, g, &o, &done));
    assert_int_equal(done.words, 3); /* two of r, one of c, which stays */
    assert_int_equal(done.cut, 1);
    assert_int_equal(done.zero, 4);
    assert_int_equal(done.weights, 18);
    want_values(g, "v", "00xx00xx");
    want_values(g, "w", "xxxx");
    want_values(g, "m", "xxxxxx");
    hd_graph_destroy(g);
    g = parsed(ctx);
    o.word = 4; /* a word of r, a word of c: both stay */
    assert_int_equal(hd_prune(ctx, g, &o, &done), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "of 2 words of 4 channels"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void cuts_weights(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parsed(ctx);
    struct hd_pruned done;
    want_ok(ctx, hd_prune(ctx, g, &(struct hd_prune_options){.share = 0.5}, &done));
    want_values(g, "w", "xx00");
    want_values(g, "v", "00xx00xx");
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* Steps of training leave 0 what was pruned, and the machine's graph has no such channels. */
static void stays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = parsed(ctx), *before = parsed(ctx);
    hd_trainer *t = NULL;
    struct hd_pruned done;
    struct hd_train_result r;
    struct hd_train_options o = {.device = "golden", .integers = true, .zeros = true};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    o.optimizer.rate = 0.05, o.optimizer.weight_decay = 0.1;
    want_ok(ctx, hd_prune(ctx, g, &(struct hd_prune_options){0.3, true, 2}, &done));
    want_ok(ctx, hd_trainer_open(ctx, g, &o, &t));
    float x[8] = {0.5f, 1, 0.2f, 0.7f, 1, 2, 1.5f, 0.3f};
    for (int i = 0; i < 10; i++) want_ok(ctx, hd_trainer_step(ctx, t, x, (int64_t[]){0, 2}, &r));
    want_ok(ctx, hd_trainer_weights(ctx, t, g));
    hd_trainer_close(t);
    want_values(g, "v", "00xx00xx");
    int v = hd_tensor_by_name(g, "v");
    assert_memory_not_equal((const char *)g->tensors[v].data + 2,
                            (const char *)before->tensors[v].data + 2, 2);
    want_ok(ctx, hd_legalize(ctx, g));
    want_ok(ctx, hd_prepare(ctx, g));
    int conv = hd_node_by_name(g, "a");
    assert_true(conv >= 0);
    assert_int_equal(g->tensors[g->nodes[conv].out[0]].dim[1], 2);
    hd_graph_destroy(g);
    hd_graph_destroy(before);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_words), cmocka_unit_test(cuts_weights),
                                       cmocka_unit_test(stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
