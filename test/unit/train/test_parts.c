/* Products that devices share: cut where that is cheaper, into the same values; else left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/place/place.h"
#include "cpu_ref/golden.h"
#include "runtime/train/parts.h"
#include "test/rng.h"

static const char *const alike[] = {"cpu", "cpu", "cpu"};
static const char *const unlike[] = {"cpu", "golden"}, *const apart[] = {"cpu", "other/cpu"};

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static hd_graph *parse(hd_ctx *ctx, const char *text) {
    hd_graph *g = NULL;
    want_ok(ctx, hd_graph_parse(ctx, text, "test", &g));
    want_ok(ctx, hd_graph_infer(ctx, g));
    return g;
}

static struct hd_device_list list_of(const char *const *name, int n) {
    return (struct hd_device_list){.name = name, .n = n, .machine = -1, .pipeline = true};
}

/* What the best placement that is found costs; all: what one device alone does. */
static double cost(const hd_graph *g, const struct hd_device_list *list, double *all) {
    hd_arena *a = hd_arena_create();
    struct hd_placing p = {.a = a, .g = g, .list = list};
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    p.n_order = hd_graph_order(g, order), p.order = order;
    hd_place_prices(&p);
    double ns = hd_place_cost(&p, hd_place_devices(&p));
    *all = hd_place_cost(&p, hd_new_array(a, int, g->n_nodes + 1));
    hd_arena_destroy(a);
    return ns;
}

/* Outputs of both graphs, run on golden with the same random inputs, have the same bits. */
static void same_values(hd_ctx *ctx, const hd_graph *g, const hd_graph *h) {
    hd_arena *a = hd_arena_create();
    struct rng r = {7};
    struct hd_tensor *x = hd_golden_tensors(g, a), *y = hd_golden_tensors(h, a);
    assert_int_equal(g->n_inputs, h->n_inputs);
    for (size_t i = 0; i < g->n_inputs; i++) {
        int64_t n = hd_tensor_elems(&g->tensors[g->inputs[i]]);
        float *v = hd_new_array(a, float, (size_t)n);
        for (int64_t k = 0; k < n; k++) v[k] = (float)(int32_t)rng_next(&r) / 2147483648.0f;
        x[g->inputs[i]].data = y[h->inputs[i]].data = v;
    }
    want_ok(ctx, hd_golden_eval(ctx, g, NULL, 0, x, a));
    want_ok(ctx, hd_golden_eval(ctx, h, NULL, 0, y, a));
    assert_int_equal(g->n_outputs, h->n_outputs);
    for (size_t i = 0; i < g->n_outputs; i++) {
        const struct hd_tensor *p = &x[g->outputs[i]], *q = &y[h->outputs[i]];
        assert_int_equal(hd_tensor_elems(p), hd_tensor_elems(q));
        assert_memory_equal(p->data, q->data, hd_tensor_bytes(p));
    }
    hd_arena_destroy(a);
}

/* Returns how many products were cut; *out_cost: of what comes out, of one device. */
static int check(const char *text, const char *const *names, int n, double *out_cost,
                 double *out_alone) {
    hd_ctx *ctx = hd_ctx_create();
    const struct hd_device_list list = list_of(names, n);
    hd_graph *g = parse(ctx, text), *h = NULL;
    int cut = 0;
    double ignored;
    want_ok(ctx, hd_graph_copy(ctx, g, &h));
    want_ok(ctx, hd_train_parts(ctx, &list, &h, &cut));
    want_ok(ctx, hd_graph_verify(ctx, h));
    same_values(ctx, g, h);
    cost(g, &list, out_alone);
    *out_cost = cost(h, &list, &ignored);
    hd_graph_destroy(g);
    hd_graph_destroy(h);
    hd_ctx_destroy(ctx);
    return cut;
}

/* Every form of a product, too large for one device: each of n does about its share. */
static void forms_are_shared(void **state) {
    static const struct {
        const char *inputs, *node;
    } form[] = {
        {"  input x f32[512,512]\n  input w f32[512,250]\n", "matmul(x, w)"},
        {"  input x f32[2,256,512]\n  input w f32[512,256]\n", "matmul(x, w)"},
        {"  input x f32[2,256,512]\n  input w f32[2,512,272]\n", "matmul(x, w)"},
        {"  input x f32[512,512]\n  input w f32[512,250]\n", "gemm(x, w) alpha=0.5"},
        {"  input x f32[512,512]\n  input w f32[250,512]\n  input c f32[250]\n",
         "gemm(x, w, c) transB=1"},
        {"  input x f32[512,512]\n  input w f32[250,512]\n  input c f32[512,250]\n",
         "gemm(x, w, c) transA=1 transB=1 beta=0.25"},
        {"  input x f32[512,512]\n  input w f32[512,250]\n  input c f32[512,1]\n",
         "gemm(x, w, c) transA=1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        for (int n = 2; n <= 3; n++) {
            char text[512];
            double got, alone;
            snprintf(text, sizeof text, "graph g {\n%s  y ? = %s\n  output y\n}\n", form[i].inputs,
                     form[i].node);
            if (check(text, alike, n, &got, &alone) != 1)
                fail_msg("%s: it was not cut", form[i].node);
            if (got > alone * (n == 2 ? 0.8 : 0.7))
                fail_msg("%s: %.0f ns on %d devices, %.0f on one", form[i].node, got, n, alone);
        }
}

/* Five products of a network and its gradients on two devices: one of them is halved. */
static void only_what_pays(void **state) {
    double got, alone;
    (void)state;
    int cut = check("graph g {\n  input x f32[384,384]\n  input w f32[384,384]\n"
                    "  a f32[384,384] = matmul(x, w)\n  b f32[384,384] = matmul(a, w)\n"
                    "  c f32[384,384] = matmul(b, w)\n  d f32[384,384] = matmul(c, b)\n"
                    "  e f32[384,384] = matmul(d, a)\n  output e\n}\n",
                    alike, 2, &got, &alone);
    assert_true(cut >= 1 && cut <= 2);
    assert_true(got < 0.65 * alone);
    /* too small for the way to another device, or that device too slow for 16 columns */
    assert_int_equal(check("graph g {\n  input x f32[4,32]\n  input w f32[32,64]\n"
                           "  y ? = matmul(x, w)\n  output y\n}\n",
                           alike, 2, &got, &alone),
                     0);
    assert_int_equal(check("graph g {\n  input x f32[64,256]\n  input w f32[256,256]\n"
                           "  y ? = matmul(x, w)\n  output y\n}\n",
                           unlike, 2, &got, &alone),
                     0);
    /* nor over a network, whose way costs more than it saves */
    assert_int_equal(check("graph g {\n  input x f32[512,512]\n  input w f32[512,256]\n"
                           "  y ? = matmul(x, w)\n  output y\n}\n",
                           apart, 2, &got, &alone),
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_are_shared),
                                       cmocka_unit_test(only_what_pays)};
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
