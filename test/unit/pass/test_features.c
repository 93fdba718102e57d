/* Pass features: golden computes the same bytes before and after, and rows are made of pixels whose
 * channels lie side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/pass.h"
#include "test/unit/pass/golden_bytes.h"

enum { ROWS = 6 }; /* of weights */

struct net {
    int features;      /* of a row */
    const char *nodes; /* from image c [1,6,4,5] to p, products with w, or wr and r */
    int64_t perm[4];   /* of the transpose behind the pass; all 0: everything stays */
};

struct text {
    char s[1 << 15];
    size_t n;
};

static void constant(struct text *t, const char *head, int n, int step, int range) {
    t->n += (size_t)snprintf(t->s + t->n, sizeof t->s - t->n, " const %s = {", head);
    for (int i = 0; i < n; i++)
        t->n += (size_t)snprintf(t->s + t->n, sizeof t->s - t->n, "%s%d", i ? "," : "",
                                 i * step % range - range / 2);
    t->n += (size_t)snprintf(t->s + t->n, sizeof t->s - t->n, "}\n");
}

static hd_graph *network(hd_ctx *ctx, const struct net *n) {
    static struct text t;
    char w[64], wr[64];
    t.n = (size_t)snprintf(
        t.s, sizeof t.s,
        "graph g {\n input x i8[1,3,4,5]\n const s f32[1] = {0.05}\n"
        " const rs f32[1,2,%d] = {0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02,0.02}\n",
        ROWS);
    snprintf(w, sizeof w, "w i8[%d,%d]", ROWS, n->features);
    snprintf(wr, sizeof wr, "wr i8[1,%d,%d]", ROWS, n->features);
    constant(&t, w, ROWS * n->features, 37, 101);
    constant(&t, wr, ROWS * n->features, 41, 21);
    constant(&t, "k i8[6,3,1,1]", 18, 7, 19);
    constant(&t, "b i32[6]", ROWS, 91, 200);
    constant(&t, "r i8[1,6,6]", ROWS * ROWS, 5, 21);
    constant(&t, "rb i32[1,2,6]", 2 * ROWS, 17, 90);
    snprintf(t.s + t.n, sizeof t.s - t.n,
             " c ? = qconv(x, k, b, s) kernel_shape=[1,1] group=1\n %s\n output p\n}", n->nodes);
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx, t.s, "net", &g) != HD_OK) fail_msg("%s: %s", n->nodes, hd_message(ctx));
    return g;
}

/* There is a transpose of this order; all 0: there is none of four dimensions that is new. */
static bool has(const hd_graph *g, const int64_t *perm, size_t first) {
    for (size_t i = first; i < g->n_nodes; i++) {
        const struct hd_attr *p = hd_attr_get(&g->nodes[i], "perm");
        if (g->nodes[i].dead || !p) continue;
        return p->n == 4 && !memcmp(p->ints, perm, 4 * sizeof *perm);
    }
    return !perm[0] && !perm[1];
}

static void same_values(void **state) {
    (void)state;
    static const struct net nets[] = {
        {30,
         "t ? = transpose(c) perm=[0,2,1,3]\n f ? = reshape(t) shape=[4,30]\n"
         " p ? = qgemm(f, w, b, s) x_zp=3",
         {0, 2, 3, 1}},
        {24,
         "t ? = transpose(c) perm=[3,0,1,2]\n f ? = reshape(t) shape=[5,24]\n"
         " p ? = qgemm(f, w, b, s)",
         {0, 3, 2, 1}},
        /* The channels and rows are one dimension before they are turned. */
        {24,
         "m ? = reshape(c) shape=[1,24,5]\n t ? = transpose(m) perm=[2,0,1]\n"
         " p ? = qrnn(t, wr, r, rb, rs) x_zp=-4 y_zp=2",
         {0, 3, 2, 1}},
        {120,
         "t ? = transpose(c) perm=[0,3,1,2]\n f ? = reshape(t) shape=[1,120]\n"
         " p ? = qgemm(f, w, b, s)",
         {0, 3, 2, 1}},
        /* Channels side by side already; only a reshape; channels that are split; not in rows. */
        {30,
         "t ? = transpose(c) perm=[0,2,3,1]\n f ? = reshape(t) shape=[4,30]\n"
         " p ? = qgemm(f, w, b, s)",
         {0}},
        {120, "f ? = reshape(c) shape=[1,120]\n p ? = qgemm(f, w, b, s)", {0}},
        {10,
         "m ? = reshape(c) shape=[1,3,2,4,5]\n t ? = transpose(m) perm=[0,1,3,2,4]\n"
         " f ? = reshape(t) shape=[12,10]\n p ? = qgemm(f, w, b, s)",
         {0}},
        {20,
         "t ? = transpose(c) perm=[1,0,3,2]\n f ? = reshape(t) shape=[6,20]\n"
         " p ? = qgemm(f, w, b, s)",
         {0}},
    };
    int8_t want[512], got[512];
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_graph *g = network(ctx, &nets[i]);
        size_t n = golden_bytes(ctx, g, want, sizeof want), nodes = g->n_nodes;
        if (hd_pass_run(ctx, g, "features") != HD_OK) fail_msg("%s", hd_message(ctx));
        assert_int_equal(golden_bytes(ctx, g, got, sizeof got), n);
        if (memcmp(want, got, n)) fail_msg("net %zu: other bytes", i);
        if (!has(g, nets[i].perm, nodes)) fail_msg("net %zu: another order", i);
        hd_graph_destroy(g);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
