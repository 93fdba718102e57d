/* Every node of ONNX's own cases: golden against the expression that meaning.def has for it, on
 * random inputs. Skipped where Debian's libonnx-testdata is not installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compiler/import/network.h"
#include "test/rng.h"
#include "test/unit/cpu_ref/meaning_check.h"

static const char folder[] = "/usr/share/libonnx-testdata/data/node";
enum { MOST_ELEMENTS = 1 << 12 };

static void *random_data(hd_arena *a, const struct hd_tensor *t, struct rng *r, int below) {
    void *data = hd_alloc(a, hd_tensor_bytes(t) + 8);
    for (int64_t i = 0; i < hd_tensor_elems(t); i++)
        if (meaning_is_float(t->dtype))
            hd_k_put_f64(data, t->dtype, i, (double)rng_float(r, -3, 3));
        else
            hd_k_put_i64(data, t->dtype, i,
                         t->dtype == HD_BOOL ? rng_range(r, 0, 1) : rng_range(r, 0, below));
    return data;
}

/* Cases whose inputs may not be random (indexes, shapes) fail in golden, and say nothing. */
static void check_case(const char *path, struct rng *r, struct meaning_count *c) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    bool ok = hd_import(ctx, path, NULL, &g) == HD_OK;
    struct hd_tensor *t = ok ? hd_golden_tensors(g, a) : NULL;
    for (size_t i = 0; ok && i < g->n_inputs; i++) {
        struct hd_tensor *x = &t[g->inputs[i]];
        ok = x->known && hd_tensor_elems(x) <= MOST_ELEMENTS;
        if (ok) x->data = random_data(a, x, r, 100);
    }
    ok = ok && hd_golden_eval(ctx, g, NULL, 0, t, a) == HD_OK;
    hd_clear(ctx);
    int failed = c->failed;
    for (size_t i = 0; ok && i < g->n_nodes; i++)
        if (!g->nodes[i].dead) meaning_check(ctx, g, (int)i, t, c);
    if (c->failed != failed) printf("  in %s\n", path);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
}

static void onnx_cases(void **state) {
    (void)state;
    static struct meaning_count c;
    struct rng r = {1};
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort), checked = 0;
    if (n < 0) {
        printf("no %s (Debian package libonnx-testdata)\n", folder);
        skip();
    }
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.') check_case(path, &r, &c);
        free(names[i]);
    }
    free(names);
    for (int op = 0; op < HD_IR_OPS; op++) checked += c.nodes[op];
    printf("%d nodes equal, %d without an expression\n", checked, c.without);
    assert_int_equal(c.failed, 0);
    assert_true(checked > 300);
}

/* A form with sizes for $a to $f. */
static void with_sizes(const char *form, const char *sizes, char *out, size_t bytes) {
    size_t n = 0;
    for (; *form && n + 1 < bytes; form++)
        if (*form == '$' && form[1] >= 'a' && form[1] <= 'f')
            out[n++] = sizes[*++form - 'a'];
        else
            out[n++] = *form;
    out[n] = 0;
}

static char why[400]; /* the last shapes were refused */

/* One round; false when inference refuses the shapes. */
static bool check_form(const char *form, const char *node, int below, struct rng *r,
                       struct meaning_count *c) {
    char sizes[6], text[1024], filled[1024];
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = NULL;
    for (int i = 0; i < 6; i++) sizes[i] = (char)('0' + rng_range(r, 1, 7));
    snprintf(text, sizeof text, "graph g {\n%s\n result ? = %s\n output result\n}", form, node);
    with_sizes(text, sizes, filled, sizeof filled);
    bool ok = hd_graph_parse(ctx, filled, "test", &g) == HD_OK;
    struct hd_tensor *t = ok ? hd_golden_tensors(g, a) : NULL;
    for (size_t i = 0; ok && i < g->n_inputs; i++)
        t[g->inputs[i]].data = random_data(a, &t[g->inputs[i]], r, below - 1);
    ok = ok && hd_golden_eval(ctx, g, NULL, 0, t, a) == HD_OK;
    if (!ok) snprintf(why, sizeof why, "%s", hd_message(ctx));
    hd_clear(ctx);
    for (size_t i = 0; ok && i < g->n_nodes; i++) meaning_check(ctx, g, (int)i, t, c);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return ok;
}

static void random_shapes(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *node;
        int below;
    } forms[] = {
#define FORM(inputs, node, below) {inputs, node, below},
#include "test/unit/cpu_ref/meaning_random.def"
    };
    static struct meaning_count c;
    struct rng r = {7};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int done = 0, failed = c.failed, without = c.without;
        for (int round = 0; round < 60 && done < 12 && c.failed == failed; round++)
            done += check_form(forms[i].inputs, forms[i].node, forms[i].below, &r, &c);
        if (done < 4) fail_msg("%s: only %d shapes run: %s", forms[i].node, done, why);
        if (c.without > without) fail_msg("%s has no expression", forms[i].node);
    }
    assert_int_equal(c.failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(onnx_cases),
                                       cmocka_unit_test(random_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
