/* Gradients against central differences in binary64, first and second derivatives; errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/grad/grad.h"
#include "cpu_ref/golden.h"
#include "test/rng.h"

enum { TRIALS = 3, MAX_WRT = 8, PROBES = 24 };

struct test_case {
    const char *name, *text;
    double lo, hi;
};

static const struct test_case cases[] = {
#define CASE(name, lo, hi, text) {#name, text, lo, hi},
#include "test/unit/grad/grad_cases.def"
};

static double between(struct rng *rng, double lo, double hi) {
    return lo + (hi - lo) * ((double)rng_next(rng) / 4294967296.0);
}

/* The graph of a case with sizes for $a, $b, $c. */
static hd_graph *make(hd_ctx *ctx, const struct test_case *c, struct rng *rng) {
    char text[4096] = "graph t {\n";
    char size[3] = {0};
    size_t n = strlen(text);
    for (int i = 0; i < 3; i++) size[i] = (char)('1' + rng_next(rng) % 3);
    for (const char *s = c->text; *s; s++) {
        assert_true(n + 4 < sizeof text);
        text[n++] = *s == '$' ? size[s[1] - 'a'] : *s;
        s += *s == '$';
    }
    text[n++] = '}', text[n++] = '\n', text[n] = 0;
    hd_graph *g = NULL;
    if (hd_graph_parse(ctx, text, c->name, &g) != HD_OK || hd_graph_infer(ctx, g) != HD_OK)
        fail_msg("%s: %s\n%s", c->name, hd_message(ctx), text);
    return g;
}

/* A weighted sum of tensors: one number that depends on each of their elements in another way. */
static int weighted(hd_ctx *ctx, hd_graph *g, const int *t, size_t n, struct rng *rng) {
    int loss = -1;
    for (size_t i = 0; i < n; i++) {
        struct hd_tensor y = g->tensors[t[i]];
        if (y.dtype != HD_F64) continue;
        size_t count = (size_t)hd_tensor_elems(&y);
        double *w = calloc(count + 1, sizeof *w);
        for (size_t k = 0; k < count; k++) w[k] = between(rng, 0.5, 1.5) * (k % 3 == 1 ? -1 : 1);
        int in[2] = {t[i], hd_graph_const(g, "weights", HD_F64, y.rank, y.dim, w)};
        int m = hd_graph_tensor(g, "m", HD_F64, 0, NULL),
            s = hd_graph_tensor(g, "s", HD_F64, 0, NULL);
        hd_graph_node(g, HD_IR_mul, "m", 2, in, 1, &m);
        hd_attr_set_int(g, hd_graph_node(g, HD_IR_reducesum, "s", 1, &m, 1, &s), "keepdims", 0);
        free(w);
        int both[2] = {loss, s};
        loss = s;
        if (both[0] < 0) continue;
        loss = hd_graph_tensor(g, "loss", HD_F64, 0, NULL);
        hd_graph_node(g, HD_IR_add, "loss", 2, both, 1, &loss);
    }
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    return loss;
}

/* Evaluates the first n nodes of the graph. */
static struct hd_tensor *eval(hd_ctx *ctx, const hd_graph *g, size_t n, double *const *x,
                              hd_arena *a) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    int *nodes = hd_new_array(a, int, n + 1);
    for (size_t i = 0; i < n; i++) nodes[i] = (int)i;
    for (size_t i = 0; i < g->n_inputs; i++) t[g->inputs[i]].data = x[i];
    if (hd_golden_eval(ctx, g, nodes, n, t, a) != HD_OK) fail_msg("%s", hd_message(ctx));
    return t;
}

static double loss_at(hd_ctx *ctx, const hd_graph *g, size_t n, double *const *x, int loss) {
    hd_arena *a = hd_arena_create();
    double v = *(const double *)eval(ctx, g, n, x, a)[loss].data;
    hd_arena_destroy(a);
    return v;
}

/* Gradients dx of the loss, which the first n nodes compute, against central differences. */
static void compare(hd_ctx *ctx, const char *name, const hd_graph *g, size_t n, int loss,
                    const int *dx, double **x, struct rng *rng) {
    hd_arena *a = hd_arena_create();
    struct hd_tensor *t = eval(ctx, g, g->n_nodes, x, a);
    const double step = 1e-5;
    for (size_t i = 0; i < g->n_inputs; i++) {
        const struct hd_tensor *d = &t[dx[i]], *in = &g->tensors[g->inputs[i]];
        int64_t count = hd_tensor_elems(in), probes = count < PROBES ? count : PROBES;
        assert_int_equal(d->rank, in->rank);
        assert_memory_equal(d->dim, in->dim, (size_t)in->rank * sizeof *in->dim);
        for (int64_t p = 0; p < probes; p++) {
            int64_t k = count <= PROBES ? p : (int64_t)(rng_next(rng) % (uint64_t)count);
            double at = x[i][k], got = ((const double *)d->data)[k];
            x[i][k] = at + step;
            double up = loss_at(ctx, g, n, x, loss);
            x[i][k] = at - step;
            double want = (up - loss_at(ctx, g, n, x, loss)) / (2 * step);
            x[i][k] = at;
            if (!(fabs(got - want) <= 1e-6 * (1 + fabs(want))))
                fail_msg("%s: input '%s', element %lld: gradient %.10g, differences %.10g", name,
                         in->name, (long long)k, got, want);
        }
    }
    hd_arena_destroy(a);
}

static void differentiate(hd_ctx *ctx, const char *name, hd_graph *g, int loss, int *dx) {
    if (hd_grad(ctx, g, loss, g->inputs, (int)g->n_inputs, dx) != HD_OK)
        fail_msg("%s: %s", name, hd_message(ctx));
    for (size_t i = 0; i < g->n_inputs; i++)
        if (!hd_graph_is_output(g, dx[i])) hd_graph_output(g, dx[i]);
    if (hd_graph_verify(ctx, g) != HD_OK) fail_msg("%s: %s", name, hd_message(ctx));
}

static void check_case(hd_ctx *ctx, const struct test_case *c, int trial) {
    struct rng rng = {(uint64_t)trial * 7919 + 1};
    hd_graph *g = make(ctx, c, &rng);
    double *x[MAX_WRT] = {0};
    int dx[MAX_WRT], second[MAX_WRT];
    assert_true(g->n_inputs <= MAX_WRT);
    for (size_t i = 0; i < g->n_inputs; i++) {
        size_t n = (size_t)hd_tensor_elems(&g->tensors[g->inputs[i]]);
        x[i] = calloc(n + 1, sizeof *x[i]);
        for (size_t k = 0; k < n; k++) x[i][k] = between(&rng, c->lo, c->hi);
    }
    int loss = weighted(ctx, g, g->outputs, g->n_outputs, &rng);
    size_t n = g->n_nodes;
    differentiate(ctx, c->name, g, loss, dx);
    compare(ctx, c->name, g, n, loss, dx, x, &rng);
    if (trial == 0) {
        loss = weighted(ctx, g, dx, g->n_inputs, &rng);
        n = g->n_nodes;
        differentiate(ctx, c->name, g, loss, second);
        compare(ctx, c->name, g, n, loss, second, x, &rng);
    }
    for (size_t i = 0; i < g->n_inputs; i++) free(x[i]);
    hd_graph_destroy(g);
}

static void central_differences(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int trial = 0; trial < TRIALS; trial++) check_case(ctx, &cases[i], trial);
    hd_ctx_destroy(ctx);
}

/* Every operation with an adjoint that is not 0 has a case. */
static void all_have_cases(void **state) {
    (void)state;
    static const char *const no_case[] = {
#define ZERO(op) #op,
#include "compiler/grad/grad.def"
        "squeeze", "unsqueeze", "flatten"};
    for (int op = 0; op < HD_IR_OPS; op++) {
        const char *why = NULL, *name = hd_ir_ops[op].name;
        bool found = !hd_grad_has((enum hd_ir_op)op, &why);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            found = found || !strcmp(cases[i].name, name);
        for (size_t i = 0; i < sizeof no_case / sizeof *no_case; i++)
            found = found || !strcmp(no_case[i], name);
        if (!found) fail_msg("%s has an adjoint and no case in grad_cases.def", name);
    }
}

static void refuses(const char *text, const char *want) {
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    int dx = -1;
    assert_int_equal(hd_graph_parse(ctx, text, "t", &g), HD_OK);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    assert_int_not_equal(hd_grad(ctx, g, g->outputs[0], g->inputs, 1, &dx), HD_OK);
    if (!strstr(hd_message(ctx), want)) fail_msg("%s: no '%s'", hd_message(ctx), want);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

static void errors(void **state) {
    (void)state;
    refuses("graph t {\n input x f32[2,2]\n y f32[] = det(x) @d\n output y\n}\n",
            "node 'd' (det): no gradient here: its adjoint is not written");
    refuses("graph t {\n input x f32[2]\n const s f32[] = {1}\n const z i8[] = {0}\n"
            " q ? = quantize(x, s, z) @q\n y ? = dequantize(q, s, z)\n output y\n}\n",
            "node 'q' (quantize): no gradient here: integers have none");
    refuses("graph t {\n input x i32[2]\n y ? = neg(x)\n output y\n}\n", "want floats");
    refuses("graph t {\n input x f32[2,3,4]\n input w f32[1,8,4]\n input r f32[1,8,2]\n"
            " y ? = lstm(x, w, r) @l hidden_size=2 clip=0x1p+0\n output y\n}\n",
            "node 'l' (lstm): no gradient here: clip");
}

/* dy goes to the shadow; the value itself, which integers make, is not looked at. */
static void straight_through(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    int dx = -1;
    assert_int_equal(hd_graph_parse(ctx,
                                    "graph t {\n input x f32[3]\n const s f32[] = {0.5}\n"
                                    " const z i8[] = {0}\n q ? = quantize(x, s, z)\n"
                                    " v ? = dequantize(q, s, z)\n const one f32[] = {1}\n"
                                    " w ? = clip(x, -, one)\n y ? = mul(v, v)\n output y\n}\n",
                                    "t", &g),
                     HD_OK);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    struct hd_grad_through st = {hd_tensor_by_name(g, "v"), hd_tensor_by_name(g, "w")};
    if (hd_grad_straight(ctx, g, g->outputs[0], g->inputs, 1, &st, 1, &dx) != HD_OK)
        fail_msg("%s", hd_message(ctx));
    static const float x[3] = {0.6f, -1.3f, 2}, want[3] = {1, -3, 0}; /* 2 v where x <= 1 */
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, t, a), HD_OK);
    assert_memory_equal(t[dx].data, want, sizeof want);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

/* What the loss does not depend on has zeros; a tensor inside the graph has a gradient, too. */
static void inside_and_outside(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    int d[3] = {-1, -1, -1};
    assert_int_equal(hd_graph_parse(ctx,
                                    "graph t {\n input x f32[2]\n input z f32[2,2]\n"
                                    " p ? = mul(x, x)\n y ? = mul(p, p)\n output y\n}\n",
                                    "t", &g),
                     HD_OK);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    int wrt[3] = {g->inputs[1], hd_tensor_by_name(g, "p"), g->inputs[0]};
    assert_int_equal(hd_grad(ctx, g, g->outputs[0], wrt, 3, d), HD_OK);
    static const float x[2] = {1, 3}, z[4] = {0}, want_p[2] = {2, 18}, want_x[2] = {4, 108};
    struct hd_tensor *t = hd_golden_tensors(g, a);
    t[g->inputs[0]].data = x;
    t[g->inputs[1]].data = z;
    assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, t, a), HD_OK);
    assert_memory_equal(t[d[0]].data, z, sizeof z);
    assert_memory_equal(t[d[1]].data, want_p, sizeof want_p);
    assert_memory_equal(t[d[2]].data, want_x, sizeof want_x);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(central_differences),
        cmocka_unit_test(all_have_cases),
        cmocka_unit_test(errors),
        cmocka_unit_test(straight_through),
        cmocka_unit_test(inside_and_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
