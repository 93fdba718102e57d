/* Masks that hide scores from softmax: the ranges of a mask and of the sums that it is part of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/qdq.h"
#include "compiler/quantize/quantize.h"

/* One mask for the scores of two layers; those of the second are the larger ones. */
static const char network[] =
    "graph net {\ninput a f32[4,4]\ninput b f32[4,4]\ninput m f32[4]\n"
    "const w f32[4,4] = {1,0,0,2, 0,1,2,0, 1,1,0,0, 0,0,2,1}\n"
    "p ? = matmul(a, w)\ns ? = add(p, m)\nt ? = softmax(s) axis=1\n"
    "q ? = matmul(b, w)\nu ? = add(q, m)\nv ? = softmax(u) axis=1\noutput t\noutput v\n}";

static void observed(const hd_graph *g, struct hd_quant_stats *s, const char *name, float lo,
                     float hi) {
    int t = hd_tensor_by_name(g, name);
    assert_true(t >= 0);
    s[t].lo = lo, s[t].hi = hi, s[t].n = 1;
}

/* The values that tensor `name` can have once it is quantised. */
static void range_of(const hd_graph *g, const char *name, float *lo, float *hi) {
    const struct hd_node *d = hd_qdq_maker(g, hd_tensor_by_name(g, name));
    struct hd_qparam p;
    assert_non_null(d);
    assert_true(d->op == HD_IR_dequantize && hd_qdq_param(g, d, &p));
    *lo = (float)(-128 - p.zp) * p.scale, *hi = (float)(127 - p.zp) * p.scale;
}

static void a_mask_of_two_layers(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    struct hd_quant_plan plan;
    struct hd_quant_options o = {.type = HD_I8};
    if (hd_graph_parse(ctx, network, "net", &g) || hd_quant_prepare(ctx, g))
        fail_msg("%s", hd_message(ctx));
    hd_quant_choose(a, g, NULL, &plan);
    struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
    observed(g, stats, "a", -1, 1), observed(g, stats, "b", -2, 2);
    observed(g, stats, "p", -1, 1), observed(g, stats, "q", -4, 4);
    observed(g, stats, "t", 0, 1), observed(g, stats, "v", 0, 1);
    observed(g, stats, "m", -3.4e38f, 0);
    observed(g, stats, "s", -3.4e38f, 1), observed(g, stats, "u", -3.4e38f, 4);
    if (hd_quant_apply(ctx, g, &plan, stats, &o) != HD_OK) fail_msg("%s", hd_message(ctx));
    float lo, hi;
    range_of(g, "s", &lo, &hi); /* ends 8 below the scores, wherever the mask is */
    assert_true(lo > -9.5f && lo < -8.5f && hi > 0.9f && hi < 1.5f);
    range_of(g, "u", &lo, &hi);
    assert_true(lo > -12.5f && lo < -11.5f && hi > 3.9f && hi < 4.5f);
    const struct hd_node *sum = NULL;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].dead && g->nodes[i].op == HD_IR_add) sum = &g->nodes[i];
    assert_non_null(sum);
    range_of(g, g->tensors[sum->in[1]].name, &lo, &hi); /* hides every score of either layer */
    assert_true(lo < -15.5f && lo > -16.5f);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* Behind it the scores are divided first: 8 bits would hold the mask and nothing of them. */
static void masks_that_are_not_known_stay(void **state) {
    static const char *const sums[] = {"s ? = add(p, m)\n", "s ? = add(p, far)\n"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = NULL;
        struct hd_quant_plan plan;
        const char *text = hd_sprintf(
            a,
            "graph net {\ninput a f32[4,4]\ninput m f32[4]\nconst far f32[4,4] = {0,0,-1e9,0, "
            "0,0,-1e9,0, 0,0,-1e9,0, 0,0,-1e9,0}\n"
            "const w f32[4,4] = {1,0,0,2, 0,1,2,0, 1,1,0,0, 0,0,2,1}\nconst two f32[] = {2}\n"
            "p ? = matmul(a, w)\n%sd ? = div(s, two)\nt ? = softmax(d) axis=1\noutput t\n}",
            sums[i]);
        if (hd_graph_parse(ctx, text, "net", &g) || hd_quant_prepare(ctx, g))
            fail_msg("%s", hd_message(ctx));
        hd_quant_choose(a, g, NULL, &plan);
        int sum = g->tensors[hd_tensor_by_name(g, "s")].producer;
        assert_non_null(plan.why[sum]);
        hd_graph_destroy(g);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

/* Ranges of few values leave room for those that were not seen: sqrt(ln 4096 / ln n) of it. Not of
 * a function with bounds, and not where nobody asks for it. */
static void few_values_have_a_margin(void **state) {
    static const struct {
        bool margin;
        uint64_t n;
        float hi;
    } of[] = {{true, 64, 1.4142f}, {true, 4096, 1}, {true, 1, 2}, {false, 64, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = NULL;
        struct hd_quant_plan plan;
        struct hd_quant_options o = {.type = HD_I8, .margin = of[i].margin};
        const char *text = "graph net {\ninput a f32[2,2]\nconst w f32[2,2] = {1,0,0,2}\n"
                           "p ? = matmul(a, w)\nt ? = sigmoid(p)\noutput t\n}";
        if (hd_graph_parse(ctx, text, "net", &g) || hd_quant_prepare(ctx, g))
            fail_msg("%s", hd_message(ctx));
        hd_quant_choose(a, g, NULL, &plan);
        struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
        observed(g, stats, "a", -1, 1), observed(g, stats, "p", -1, 1);
        observed(g, stats, "t", 0, 1);
        for (size_t t = 0; t < plan.n_tensors; t++) stats[t].n = of[i].n;
        if (hd_quant_apply(ctx, g, &plan, stats, &o) != HD_OK) fail_msg("%s", hd_message(ctx));
        float lo, hi;
        range_of(g, "p", &lo, &hi);
        if (!(fabsf(hi - of[i].hi) < 0.02f)) fail_msg("%d: to %g", (int)i, (double)hi);
        range_of(g, "t", &lo, &hi);
        assert_true(hi == 1);
        hd_graph_destroy(g);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_mask_of_two_layers),
                                       cmocka_unit_test(few_values_have_a_margin),
                                       cmocka_unit_test(masks_that_are_not_known_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
