/* Graphs of test/golden/pass compute after a pass what they compute before; and the language of
 * patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "compiler/compiler.h"
#include "compiler/pass/pass.h"
#include "compiler/pass/pattern.h"
#include "cpu_ref/golden.h"
#include "runtime/base/io.h"

static hd_graph *parse(hd_ctx *ctx, const char *path) {
    void *text = NULL;
    size_t bytes = 0;
    hd_graph *g = NULL;
    assert_int_equal(hd_file_read(ctx, path, &text, &bytes), HD_OK);
    assert_int_equal(hd_graph_parse(ctx, text, path, &g), HD_OK);
    free(text);
    return g;
}

/* Outputs on inputs that only depend on their place. */
static struct hd_tensor *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    for (size_t i = 0; i < g->n_inputs; i++) {
        struct hd_tensor *x = &t[g->inputs[i]];
        size_t n = (size_t)hd_tensor_elems(x);
        unsigned char *data = hd_alloc(a, hd_tensor_bytes(x));
        for (size_t k = 0; k < n; k++) {
            int v = (int)((k * 37 + i * 11) % 19) - 9;
            float f = (float)v / 4;
            if (x->dtype == HD_F32) memcpy(data + 4 * k, &f, 4);
            if (x->dtype == HD_I8) data[k] = (unsigned char)v;
        }
        x->data = data;
    }
    assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, t, a), HD_OK);
    return t;
}

static void keeps_values(const char *path, const char *pass, double bound) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = parse(ctx, path), *h = parse(ctx, path);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    assert_int_equal(hd_graph_infer(ctx, h), HD_OK);
    assert_int_equal(hd_opt_pass(ctx, h, pass), HD_OK);
    struct hd_tensor *before = run(ctx, g, a), *after = run(ctx, h, a);
    for (size_t i = 0; i < g->n_outputs; i++) {
        const struct hd_tensor *x = &before[g->outputs[i]], *y = &after[h->outputs[i]];
        assert_string_equal(x->name, y->name);
        assert_int_equal(hd_tensor_bytes(x), hd_tensor_bytes(y));
        if (bound == 0) assert_memory_equal(x->data, y->data, hd_tensor_bytes(x));
        for (int64_t k = 0; bound > 0 && k < hd_tensor_elems(x); k++) {
            double p = (double)((const float *)x->data)[k], q = (double)((const float *)y->data)[k];
            assert_true(fabs(p - q) <= bound * (1 + fabs(p)));
        }
    }
    hd_graph_destroy(g);
    hd_graph_destroy(h);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void passes_keep_values(void **state) {
    (void)state;
    keeps_values("test/golden/pass/simplify.t", "simplify", 0);
    keeps_values("test/golden/pass/simplify.t", "legalize", 0);
    keeps_values("test/golden/pass/product.t", "norm", 1e-6);
    keeps_values("test/golden/pass/expression.t", "norm", 1e-6);
    keeps_values("test/golden/pass/norm_core.t", "norm", 1e-5);
    keeps_values("test/golden/pass/qcdq.t", "qdq", 0);
    keeps_values("test/golden/pass/weights_moved.t", "qdq", 0);
    keeps_values("test/golden/pass/sink.t", "sink", 0);
    keeps_values("test/golden/pass/layout.t", "layout", 0);
    keeps_values("test/golden/pass/layout_concat.t", "layout", 0);
    keeps_values("test/golden/pass/layout_not.t", "layout", 0);
    keeps_values("test/golden/pass/layout_quant.t", "layout", 0);
    keeps_values("test/golden/pass/rms.t", "norm", 1e-6f);
    keeps_values("test/golden/pass/l2.t", "norm", 1e-6f);
    keeps_values("test/golden/pass/cse.t", "cse", 0);
    keeps_values("test/golden/pass/attention.t", "attention", 0);
    keeps_values("test/golden/pass/recurrent.t", "recurrent", 0);
    keeps_values("test/golden/pass/rows.t", "rows", 0);
    keeps_values("test/golden/pass/shuffle.t", "shuffle", 0);
    keeps_values("test/golden/pass/shuffle_rows.t", "shuffle", 0);
    keeps_values("test/golden/pass/shuffle_image.t", "shuffle", 0);
    keeps_values("test/golden/pass/shuffle_shift.t", "shuffle", 0);
    keeps_values("test/golden/pass/shuffle_stack.t", "shuffle", 0);
    keeps_values("test/golden/pass/separate.t", "separate", 0);
    keeps_values("test/golden/pass/separate_large.t", "separate", 0);
    keeps_values("test/golden/pass/softmax_inside.t", "qdq", 0);
    keeps_values("test/golden/pass/images.t", "images", 0);
    keeps_values("test/golden/pass/images_copies.t", "images", 0);
    keeps_values("test/golden/pass/lines.t", "lines", 0);
    keeps_values("test/golden/pass/lines_view.t", "lines", 0);
    keeps_values("test/golden/pass/lines_apart.t", "lines", 0);
    keeps_values("test/golden/pass/qdq_square.t", "qdq", 0);
    keeps_values("test/golden/pass/phases_shape.t", "phases", 0);
    keeps_values("test/golden/pass/pixels.t", "pixels", 0);
    keeps_values("test/golden/pass/gaps.t", "gaps", 0);
    keeps_values("test/golden/pass/columns.t", "columns", 0);
    keeps_values("test/golden/pass/phases.t", "phases", 0);
    keeps_values("test/golden/pass/blocks.t", "blocks", 0);
    keeps_values("test/golden/pass/position.t", "qdq", 0);
    keeps_values("test/golden/pass/pair_rows.t", "qdq", 0);
    keeps_values("test/golden/pass/columns_leaves.t", "columns", 0);
    keeps_values("test/golden/pass/columns_zero.t", "columns", 0);
    keeps_values("test/golden/pass/shrink.t", "shrink", 0);
    keeps_values("test/golden/pass/split.t", "split", 0);
    keeps_values("test/golden/pass/shapes.t", "shapes", 0);
    keeps_values("test/golden/pass/shapes.t", "legalize", 0);
    keeps_values("test/golden/pass/if_settled.t", "fold", 0);
    keeps_values("test/golden/pass/if_settled.t", "legalize", 0);
    keeps_values("test/golden/pass/if_shapes.t", "legalize", 0);
    keeps_values("test/golden/pass/if_captured.t", "fold", 0);
    keeps_values("test/golden/pass/batchnorm.t", "batchnorm", 1e-6);
    keeps_values("test/golden/pass/norm.t", "norm", 1e-5);
    keeps_values("test/golden/pass/gelu.t", "gelu", 1e-5);
}

/* Large weights that the file quantises become constants; what makes a constant larger does not. */
static void large_constants_fold(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = hd_graph_create();
    int64_t dim[2] = {600, 600}, wide[3] = {2, 600, 600}, three = 3;
    float *w = calloc(600 * 600, sizeof *w), s = 0.5f;
    w[1] = 7;
    int8_t zero = 0;
    int in[3] = {hd_graph_const(g, "w", HD_F32, 2, dim, w),
                 hd_graph_const(g, "s", HD_F32, 0, NULL, &s),
                 hd_graph_const(g, "z", HD_I8, 0, NULL, &zero)};
    int q = hd_graph_tensor(g, "q", HD_I8, 0, NULL), e = hd_graph_tensor(g, "e", HD_F32, 0, NULL);
    int shape[2] = {in[0], hd_graph_const(g, "shape", HD_I64, 1, &three, wide)};
    hd_graph_node(g, HD_IR_quantize, "q", 3, in, 1, &q);
    hd_graph_node(g, HD_IR_expand, "e", 2, shape, 1, &e);
    hd_graph_output(g, q);
    hd_graph_output(g, e);
    free(w);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    assert_int_equal(hd_pass_run(ctx, g, "fold"), HD_OK);
    assert_non_null(g->tensors[q].data);
    assert_int_equal(((const int8_t *)g->tensors[q].data)[1], 14);
    assert_null(g->tensors[e].data);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

/* y = add(mul(x, w), relu(mul(x, w))), the product being one node; z reads relu's result. */
static void language(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool shared, matches;
    } cases[] = {
        {"add(a, b)", true, true},
        {"add(m=mul(x, $w), relu(m))", true, true},
        {"add(relu(m), m=mul(x, $w))", true, true}, /* in either order, named later */
        {"add(m=mul($w, x), relu(m))", true, true},
        {"add(m=mul(x, $w), relu(m))", false, false}, /* relu's result is an output */
        {"add(m=mul(x, w), tanh|relu(m))", true, true},
        {"add(m=mul(x, w), tanh(m))", true, false},
        {"add(m=mul(x, 3), relu(m))", true, true},
        {"add(m=mul(x, 3.1), relu(m))", true, false},
        {"add(m=mul(x, ~3.000001), relu(m))", true, true},
        {"add(x, x)", true, false},
        {"add(neg?(m), relu(neg?(m=mul(..))))", true, true},
        {"add(mul($x, $w), r)", true, false},
        {"sub(a, b)", true, false},
        {"add(a)", true, false},
        {"add(a, ..)", true, true},
    };
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g = NULL;
    assert_int_equal(hd_graph_parse(ctx,
                                    "graph g {\n input x f32[2]\n const w f32[] = {3.0}\n"
                                    " m ? = mul(x, w)\n r ? = relu(m)\n y ? = add(m, r)\n"
                                    " output y\n output r\n}\n",
                                    "t", &g),
                     HD_OK);
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_pattern p = {"t", "t", cases[i].text, cases[i].shared, NULL};
        struct hd_match m;
        bool got = hd_pattern_match(g, &p, hd_node_by_name(g, "y"), &m);
        if (got != cases[i].matches) print_message("case %s\n", cases[i].text);
        assert_true(got == cases[i].matches);
        if (got && strstr(cases[i].text, "m="))
            assert_int_equal(hd_match_get(&m, "m"), hd_tensor_by_name(g, "m"));
    }
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_keep_values),
        cmocka_unit_test(large_constants_fold),
        cmocka_unit_test(language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
