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

static void *random_data(hd_arena *a, const struct hd_tensor *t, struct rng *r) {
    void *data = hd_alloc(a, hd_tensor_bytes(t) + 8);
    for (int64_t i = 0; i < hd_tensor_elems(t); i++)
        if (meaning_is_float(t->dtype))
            hd_k_put_f64(data, t->dtype, i, (double)rng_float(r, -3, 3));
        else
            hd_k_put_i64(data, t->dtype, i,
                         t->dtype == HD_BOOL ? rng_range(r, 0, 1) : rng_range(r, 0, 100));
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
        if (ok) x->data = random_data(a, x, r);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(onnx_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
