/* How far integers reach: products of inputs and constants, sums with what a layer reads,
 * embeddings, norms of several dimensions. Nothing of these networks stays float, and the values
 * are near. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/quantize/quantize.h"
#include "cpu_ref/golden.h"
#include "test/rng.h"

static const struct {
    const char *text;  /* inputs a, b: f32[1,3,4]; result y */
    enum hd_ir_op has; /* once it is legal */
    int n;
} cases[] = {
    /* scores of a cache that comes in */
    {"t ? = transpose(b) perm=[0,2,1]\ny ? = matmul(a, t)\n", HD_IR_qmatmul, 1},
    /* queries that are learned */
    {"p ? = matmul(a, w)\nt ? = transpose(p) perm=[0,2,1]\ny ? = matmul(q, t)\n", HD_IR_qgemm, 2},
    {"p ? = matmul(a, w)\nr ? = reshape(p) shape=[3,2,2]\ny ? = matmul(r, heads)\n", HD_IR_qmatmul,
     1},
    /* what is left of a series */
    {"p ? = matmul(a, w)\ny ? = sub(a, p)\n", HD_IR_qadd, 1},
    /* a factor for each channel, which has no integer form: float, and all else is not */
    {"p ? = matmul(a, w)\nc ? = concat(p, p, p, p) axis=1\nf ? = reducel2(c, one)\ny ? = mul(c, "
     "f)\n",
     HD_IR_qmul, 1},
    /* a cell's state that comes in */
    {"p ? = matmul(a, w)\nf ? = sigmoid(p)\ny ? = mul(f, b)\n", HD_IR_qmul, 1},
    /* rows of a table with their places */
    {"i ? = cast(a) to=\"i64\"\ne ? = gather(w, i)\ns ? = add(e, place)\ny ? = matmul(s, w)\n",
     HD_IR_qadd, 1},
    /* both directions of a layer, branches beside each other; a longer row */
    {"p ? = matmul(a, w)\ny ? = reducesum(p, one) keepdims=0\n", HD_IR_qadd, 2},
    {"p ? = matmul(a, w)\nc ? = concat(p, p) axis=2\ny ? = reducesum(c, two)\n", HD_IR_qgemm, 2},
    /* channels of a volume */
    {"p ? = matmul(a, w)\nv ? = reshape(p) shape=[1,4,3,1,1]\nc ? = conv(v, cube)\nm ? = "
     "reducemean(c, one)\n"
     "y ? = mul(c, m)\n",
     HD_IR_qmul, 1},
    /* channels and time at once */
    {"p ? = matmul(a, w)\nn ? = layernorm(p, ones, nils) axis=1\ny ? = matmul(n, w)\n",
     HD_IR_qlayernorm, 1},
    {"p ? = matmul(a, w)\nn ? = layernorm(p, each, nils) axis=1\ny ? = matmul(n, w)\n",
     HD_IR_qlayernorm, 1},
};

static hd_graph *network(hd_ctx *ctx, hd_arena *a, const char *body) {
    hd_graph *g = NULL;
    const char *text = hd_sprintf(
        a,
        "graph net {\ninput a f32[1,3,4]\ninput b f32[1,3,4]\nconst w f32[4,4] = {0.5,-0.25,1,0, "
        "0.75,0.5,-1,0.25, 0,1,0.5,-0.5, 0.25,-0.75,0.5,1}\nconst cube f32[4,4,1,1,1] = "
        "{0.5,-0.25,1,0, 0.75,0.5,-1,0.25, "
        "0,1,0.5,-0.5, 0.25,-0.75,0.5,1}\nconst q f32[1,2,4] = "
        "{1,-1,0.5,0.25, 0.75,1,-0.5,1}\nconst ones f32[3,4] = {1,1,1,1,1,1,1,1,1,1,1,1}\nconst "
        "each f32[3,4] = {1,2,1,0.5,1,1,1.5,1,1,1,1,2}\nconst place f32[4,4] = "
        "{1,0.5,-1,0.25,0,-0.5,1,0.75,0.5,1,0,-1,1,1,0.5,0}\nconst one i64[1] = {1}\nconst two "
        "i64[1] = {2}\nconst heads f32[3,2,2] = {1,0.5,-1,1,0.25,0,-0.5,1,0.75,0.5,1,-1}\nconst "
        "nils f32[3,4] = "
        "{0,0,0,0,0,0,0,0,0,0,0,0}\n%soutput y\n}",
        body);
    if (hd_graph_parse(ctx, text, "net", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    return g;
}

static struct hd_tensor *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a, uint64_t seed) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    struct rng r = {seed};
    for (size_t i = 0; i < g->n_inputs; i++) {
        float *x = hd_new_array(a, float, 12);
        for (int k = 0; k < 12; k++) x[k] = rng_float(&r, -1, 1);
        t[g->inputs[i]].data = x;
    }
    if (hd_golden_eval(ctx, g, NULL, 0, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    return t;
}

static void observe(hd_ctx *ctx, hd_arena *a, const hd_graph *g, const struct hd_quant_plan *plan,
                    struct hd_quant_stats *stats) {
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct hd_tensor *t = run(ctx, g, a, seed);
        for (size_t i = 0; i < plan->n_tensors; i++)
            if (plan->observe[i]) hd_quant_observe(&stats[i], &g->tensors[i], 1, t[i].data);
    }
}

static void all_of_it_becomes_integers(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = network(ctx, a, cases[c].text), *q = network(ctx, a, cases[c].text);
        struct hd_quant_plan plan;
        struct hd_quant_options o = {.type = HD_I8};
        int found = 0;
        if (hd_quant_prepare(ctx, q) != HD_OK) fail_msg("%s", hd_message(ctx));
        hd_quant_choose(a, q, NULL, &plan);
        for (size_t i = 0; i < q->n_nodes; i++)
            if (!q->nodes[i].dead && plan.why[i] && q->nodes[i].op != HD_IR_transpose &&
                q->nodes[i].op != HD_IR_cast && q->nodes[i].op != HD_IR_reducel2)
                fail_msg("case %zu: %s: %s", c, q->nodes[i].name, plan.why[i]);
        struct hd_quant_stats *stats = hd_new_array(a, struct hd_quant_stats, plan.n_tensors + 1);
        observe(ctx, a, q, &plan, stats);
        if (hd_quant_apply(ctx, q, &plan, stats, &o) || hd_legalize(ctx, q))
            fail_msg("%s", hd_message(ctx));
        for (size_t i = 0; i < q->n_nodes; i++)
            found += !q->nodes[i].dead && q->nodes[i].op == cases[c].has;
        assert_int_equal(found, cases[c].n);
        const float *want = run(ctx, g, a, 5)[g->outputs[0]].data;
        const float *got = run(ctx, q, a, 5)[q->outputs[0]].data;
        for (int64_t i = 0; i < hd_tensor_elems(&g->tensors[g->outputs[0]]); i++)
            if (!(fabsf(want[i] - got[i]) < 0.1f))
                fail_msg("case %zu: element %d: %g, want %g", c, (int)i, (double)got[i],
                         (double)want[i]);
        hd_graph_destroy(g);
        hd_graph_destroy(q);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_of_it_becomes_integers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
