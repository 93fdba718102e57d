/* Building and editing graphs: names, attributes, order, users, multiply-accumulate counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/ir/ir.h"

static void names_are_unique_and_found(void **state) {
    (void)state;
    hd_graph *g = hd_graph_create();
    int64_t d[1] = {4};
    int ids[300];
    for (int i = 0; i < 300; i++) ids[i] = hd_graph_tensor(g, "x", HD_F32, 1, d);
    for (int i = 0; i < 300; i++)
        assert_int_equal(hd_tensor_by_name(g, g->tensors[ids[i]].name), ids[i]);
    assert_string_equal(g->tensors[ids[0]].name, "x");
    assert_int_equal(hd_tensor_by_name(g, "y"), -1);
    hd_graph_destroy(g);
}

static void attributes_keep_their_kind(void **state) {
    (void)state;
    hd_graph *g = hd_graph_create();
    int x = hd_graph_tensor(g, "x", HD_F32, 0, NULL), y = hd_graph_tensor(g, "y", HD_F32, 0, NULL);
    int n = hd_graph_node(g, HD_IR_relu, NULL, 1, &x, 1, &y);
    int64_t got[4];
    hd_attr_set_int(g, n, "a", 7);
    hd_attr_set_float(g, n, "b", 0.5f);
    hd_attr_set_ints(g, n, "c", 2, (int64_t[]){3, 4});
    hd_attr_set_int(g, n, "a", 8);
    assert_int_equal(g->nodes[n].n_attrs, 3);
    assert_int_equal(hd_attr_int(&g->nodes[n], "a", 0), 8);
    assert_true(hd_attr_float(&g->nodes[n], "b", 0) == 0.5f);
    assert_int_equal(hd_attr_int(&g->nodes[n], "b", -1), -1); /* another kind counts as absent */
    assert_int_equal(hd_attr_ints(&g->nodes[n], "c", got, 4, 9), 2);
    assert_true(got[0] == 3 && got[1] == 4 && got[2] == 9 && got[3] == 9);
    hd_graph_destroy(g);
}

/* x -> b -> c, and a reads c: a stands first but must come last. */
static void order_follows_data(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    int64_t d[1] = {2};
    int t[4], order[3];
    for (int i = 0; i < 4; i++) t[i] = hd_graph_tensor(g, "t", HD_F32, 1, d);
    int a = hd_graph_node(g, HD_IR_relu, "a", 1, &t[2], 1, &t[3]);
    int b = hd_graph_node(g, HD_IR_relu, "b", 1, &t[0], 1, &t[1]);
    int c = hd_graph_node(g, HD_IR_relu, "c", 1, &t[1], 1, &t[2]);
    hd_graph_input(g, t[0]);
    hd_graph_output(g, t[3]);
    assert_int_equal(hd_graph_order(g, order), 3);
    assert_true(order[0] == b && order[1] == c && order[2] == a);
    assert_int_equal(hd_graph_verify(ctx, g), HD_OK);
    assert_int_equal(hd_graph_users(g, t[1], order, 3), 1);
    assert_int_equal(order[0], c);
    g->nodes[b].in[0] = t[3]; /* now a cycle */
    assert_true(hd_graph_order(g, order) < 3);
    assert_int_equal(hd_graph_verify(ctx, g), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "cycle"));
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void edits_keep_the_graph_whole(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    int64_t d[1] = {2};
    int x = hd_graph_tensor(g, "x", HD_F32, 1, d), y = hd_graph_tensor(g, "y", HD_F32, 1, d);
    int z = hd_graph_tensor(g, "z", HD_F32, 1, d);
    int n1 = hd_graph_node(g, HD_IR_relu, "one", 1, &x, 1, &y),
        n2 = hd_graph_node(g, HD_IR_tanh, "two", 1, &y, 1, &z);
    hd_graph_input(g, x);
    hd_graph_output(g, z);
    hd_graph_kill(g, n1);
    assert_int_equal(hd_graph_verify(ctx, g), HD_INVALID); /* y has no source any more */
    hd_graph_replace(g, y, x);
    assert_int_equal(hd_graph_verify(ctx, g), HD_OK);
    hd_graph_swap_names(g, n1, n2);
    assert_string_equal(g->nodes[n2].name, "one");
    assert_string_equal(g->nodes[n1].name, "two");
    int n3 = hd_graph_node(g, HD_IR_relu, "one", 1, &x, 1, &y);
    assert_string_not_equal(g->nodes[n3].name, "one");
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void macs(const char *text, int64_t want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    assert_int_equal(hd_graph_parse(ctx, text, "test", &g), HD_OK);
    assert_int_equal(hd_node_macs(g, &g->nodes[0]), want);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void macs_are_the_networks_own(void **state) {
    (void)state;
    macs("graph g { input x f32[1,6,5,5] input w f32[4,3,3,3] y ? = conv(x, w) pads=[1,1,1,1] "
         "group=2\n output y }",
         4 * 25 * 27);
    macs("graph g { input x f32[2,8] input w f32[8,3] y ? = gemm(x, w)\n output y }", 2 * 3 * 8);
    macs("graph g { input x f32[5,2,8] input w f32[8,3] y ? = matmul(x, w)\n output y }",
         5 * 2 * 3 * 8);
    macs("graph g { input x f32[5] y ? = relu(x)\n output y }", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_found), cmocka_unit_test(attributes_keep_their_kind),
        cmocka_unit_test(order_follows_data),         cmocka_unit_test(edits_keep_the_graph_whole),
        cmocka_unit_test(macs_are_the_networks_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
