/* Movement of data (kind/move.c): chains are one layer, whatever the order of the nodes in the
 * graph and as long as there is room for their operands. */
#include "compiler/search/search.h"
#include "test/unit/plan/golden_iss.h"

enum { C = 5, L = 6 };

static int bytes(hd_graph *g, const char *name, int64_t c, int64_t l) {
    return hd_graph_tensor(g, name, HD_I8, 3, (int64_t[]){1, c, l});
}

static void rescale(hd_graph *g, int x, int y) {
    int id = hd_graph_node(g, HD_IR_qrescale, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_string(g, id, "to", "i8");
    hd_attr_set_float(g, id, "scale", 1);
}

static void transpose(hd_graph *g, int x, int y) {
    int id = hd_graph_node(g, HD_IR_transpose, g->tensors[y].name, 1, &x, 1, &y);
    hd_attr_set_ints(g, id, "perm", 3, (int64_t[]){0, 2, 1});
}

/* t and x `times` times, along the last dimension. */
static void join(hd_graph *g, int t, int x, int times, int y) {
    int in[HD_LAYER_INPUTS], n = 0;
    if (t >= 0) in[n++] = t;
    while (times--) in[n++] = x;
    int id = hd_graph_node(g, HD_IR_concat, g->tensors[y].name, n, in, 1, &y);
    hd_attr_set_int(g, id, "axis", 2);
}

/* What stands between two layers is written by nodes 1, 2, .. of `moves`, the last one first. */
static hd_model *between(hd_ctx *ctx, void (*moves)(hd_graph *g, int x, int y), int64_t c,
                         int64_t l) {
    hd_graph *g = hd_graph_create();
    int in = bytes(g, "in", C, L), x = bytes(g, "x", C, L), y = bytes(g, "y", c, l),
        out = bytes(g, "out", c, l);
    rescale(g, y, out);
    moves(g, x, y);
    rescale(g, in, x);
    hd_graph_input(g, in);
    hd_graph_output(g, out);
    if (hd_graph_infer(ctx, g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return golden_is_iss(ctx, g, "tiny", 64);
}

static void turn_join_turn(hd_graph *g, int x, int y) {
    int a = bytes(g, "a", L, C), b = bytes(g, "b", L, 3 * C);
    transpose(g, b, y);
    join(g, a, a, 2, b);
    transpose(g, x, a);
}

static void many(hd_graph *g, int x, int y) { /* 7 + 7 + 7 operands are more than a layer has */
    int a = bytes(g, "a", C, 7 * L), b = bytes(g, "b", C, 14 * L), c = bytes(g, "c", C, 21 * L);
    transpose(g, c, y);
    join(g, b, x, 7, c);
    join(g, a, x, 7, b);
    join(g, -1, x, 7, a);
}

static int layers(const hd_model *m, const char *op) {
    int n = 0;
    for (int i = 0; i < m->n_layers; i++) n += !strcmp(m->layers[i].op, op);
    return n;
}

static void chains(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = between(ctx, turn_join_turn, 3 * C, L);
    assert_int_equal(layers(m, "transpose") + layers(m, "concat"), 1);
    hd_model_destroy(m);
    m = between(ctx, many, 21 * L, C);
    assert_int_equal(layers(m, "transpose"), 1);
    assert_in_range(layers(m, "concat"), 1, 2);
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
