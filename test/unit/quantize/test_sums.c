/* Sums of branches that were joined for it: the same values, and what was joined is not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/quantize/quantize.h"
#include "cpu_ref/golden.h"

enum { ELEMS = 4 * 2 * 5 * 3 };

/* Of x f32[1,8,5,3]: y, and how many operations of the sum read tensors of five dimensions. */
static const struct {
    const char *text;
    int wide;
} forms[] = {
    /* operands of a concat along the new dimension, first and last */
    {"a ? = relu(x)\nu ? = unsqueeze(x, one)\nv ? = unsqueeze(a, one)\n"
     "c ? = concat(u, v) axis=1\ny ? = reducesum(c, one) keepdims=0\n",
     0},
    {"a ? = relu(x)\nu ? = unsqueeze(x, four)\nv ? = unsqueeze(a, four)\n"
     "c ? = concat(u, v) axis=4\ny ? = reducesum(c, four) keepdims=1\n",
     0},
    /* other reductions of branches */
    {"a ? = relu(x)\nu ? = unsqueeze(x, one)\nv ? = unsqueeze(a, one)\n"
     "c ? = concat(u, v) axis=1\ny ? = reducemean(c, one) keepdims=0\n",
     0},
    {"a ? = neg(x)\nu ? = unsqueeze(x, one)\nv ? = unsqueeze(a, one)\n"
     "c ? = concat(u, v) axis=1\ny ? = reducemax(c, one) keepdims=0\n",
     0},
    {"a ? = neg(x)\nu ? = unsqueeze(x, four)\nv ? = unsqueeze(a, four)\n"
     "c ? = concat(u, v) axis=4\ny ? = reducemin(c, four) keepdims=1\n",
     0},
    /* a concat of channels whose dimension is split, times a constant, and a factor that is made */
    {"a ? = relu(x)\nc ? = concat(x, a) axis=1\nr ? = reshape(c) shape=[1,2,8,5,3]\n"
     "p ? = mul(r, k)\ny ? = reducesum(p, one) keepdims=0\n",
     0},
    {"m ? = reducemean(x, rows) keepdims=1\nn ? = reshape(m) shape=[1,2,4,1,1]\n"
     "s ? = softmax(n) axis=1\nr ? = reshape(x) shape=[1,2,4,5,3]\np ? = mul(s, r)\n"
     "y ? = reducesum(p, one) keepdims=0\n",
     0},
    /* operands that are no parts, though the middle one has the size of one */
    {"a ? = slice(x, none, two, one)\nb ? = slice(x, two, six, one)\nd ? = concat(b, a) axis=1\n"
     "c ? = concat(a, b, d) axis=1\nr ? = reshape(c) shape=[1,3,4,5,3]\n"
     "y ? = reducesum(r, one) keepdims=0\n",
     0},
    /* what has no such dimension is the same in all parts */
    {"r ? = reshape(x) shape=[1,4,2,5,3]\np ? = mul(r, f)\nq ? = add(p, h)\n"
     "y ? = reducesum(q, one) keepdims=0\n",
     0},
    /* somebody else reads the product: it stays, and is cut */
    {"r ? = reshape(x) shape=[1,2,4,5,3]\np ? = mul(r, h)\nz ? = relu(p)\n"
     "s ? = reducesum(p, one) keepdims=1\ny ? = add(z, s)\n",
     1},
    /* the sum is over the inner part of what was split */
    {"r ? = reshape(x) shape=[1,4,2,5,3]\nt ? = relu(r)\ny ? = reducesum(t, two) keepdims=0\n", 1},
};

static hd_graph *parse(hd_ctx *ctx, hd_arena *a, const char *text) {
    hd_graph *g = NULL;
    text = hd_sprintf(a,
                      "graph net {\ninput x f32[1,8,5,3]\nconst one i64[1] = {1}\n"
                      "const two i64[1] = {2}\nconst four i64[1] = {-1}\n"
                      "const none i64[1] = {0}\nconst six i64[1] = {6}\nconst rows i64[2] = "
                      "{2,3}\nconst f f32[2,1,1] = {0.5,-3}\n"
                      "const h f32[1,1,1,5,1] = {1,2,3,4,-5}\nconst k f32[1,2,8,1,1] = "
                      "{1,2,3,4,5,6,7,8, 0.5,-1,0.25,2,-2,1,1,3}\n%soutput y\n}",
                      text);
    if (hd_graph_parse(ctx, text, "net", &g) || hd_graph_infer(ctx, g))
        fail_msg("%s", hd_message(ctx));
    return g;
}

static const float *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a, const float *x) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    return t[g->outputs[0]].data;
}

static bool reduces(enum hd_ir_op op) {
    return op == HD_IR_reducesum || op == HD_IR_reducemax || op == HD_IR_reducemin;
}

static bool wide(const hd_graph *g) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        if (n->dead || (n->op != HD_IR_mul && n->op != HD_IR_add && n->op != HD_IR_slice)) continue;
        const struct hd_tensor *y = &g->tensors[n->out[0]];
        if (y->rank == 5 && hd_tensor_elems(y) >= ELEMS / 4) return true;
    }
    return false;
}

static void sums_of_branches(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = parse(ctx, a, forms[f].text), *p = parse(ctx, a, forms[f].text);
        float x[ELEMS];
        for (int i = 0; i < ELEMS; i++) x[i] = (float)(i * 37 % 29 - 14) / 7;
        if (hd_quant_prepare(ctx, p) != HD_OK) fail_msg("%s", hd_message(ctx));
        for (size_t i = 0; i < p->n_nodes; i++)
            assert_true(p->nodes[i].dead || !reduces(p->nodes[i].op));
        assert_int_equal(wide(p), forms[f].wide);
        const float *want = run(ctx, g, a, x), *got = run(ctx, p, a, x);
        int64_t n = hd_tensor_elems(&g->tensors[g->outputs[0]]);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabsf(want[i] - got[i]) <= 1e-5f * (1 + fabsf(want[i])));
        hd_graph_destroy(g);
        hd_graph_destroy(p);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_branches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
