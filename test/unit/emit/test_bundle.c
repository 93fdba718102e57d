/* heddle compile --emit c: what cannot be written is an error that says what and what to do. What
 * can is compiled and run by test/bundle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "compiler/emit/bundle.h"

/* x i8 -> qrescale (machine) -> dequantize -> `last` (host), or only the host part. */
static hd_model *model(hd_ctx *ctx, enum hd_ir_op last, bool on_machine) {
    hd_graph *g = hd_graph_create();
    int x = hd_graph_tensor(g, "x", HD_I8, 4, (int64_t[]){1, 16, 4, 4});
    int q = hd_graph_tensor(g, "q", HD_I8, 0, NULL), f = hd_graph_tensor(g, "f", HD_F32, 0, NULL);
    int y = hd_graph_tensor(g, "y", HD_F32, 0, NULL);
    int scale = hd_graph_const_f32(g, "s", 1, (float[]){0.25f});
    int zero = hd_graph_const(g, "z", HD_I8, 1, (int64_t[]){1}, (int8_t[]){3});
    if (on_machine) {
        int n = hd_graph_node(g, HD_IR_qrescale, "scaled", 1, &x, 1, &q);
        hd_attr_set_float(g, n, "scale", 0.5f);
    }
    hd_graph_node(g, HD_IR_dequantize, "real", 3, (int[]){on_machine ? q : x, scale, zero}, 1, &f);
    hd_graph_node(g, last, "final", 1, &f, 1, &y);
    hd_graph_input(g, x);
    hd_graph_output(g, y);
    struct hd_compile_options o = {.latency_hiding = true};
    hd_model *m = NULL;
    if (hd_graph_infer(ctx, g) || hd_graph_verify(ctx, g) ||
        hd_machine_load(ctx, "tiny", &o.machine) || hd_lower(ctx, g, &o, &m))
        fail_msg("%s", hd_message(ctx));
    hd_graph_destroy(g);
    return m;
}

static hd_status emit(hd_ctx *ctx, enum hd_ir_op last, bool on_machine, struct hd_buf *c) {
    struct hd_buf h = {0};
    hd_model *m = model(ctx, last, on_machine);
    hd_status s = hd_emit_bundle(ctx, m, "net", c, &h);
    hd_buf_free(&h);
    hd_model_destroy(m);
    return s;
}

static void written(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_buf a = {0}, b = {0};
    assert_int_equal(emit(ctx, HD_IR_relu, true, &a), HD_OK);
    assert_int_equal(emit(ctx, HD_IR_relu, true, &b), HD_OK);
    assert_true(a.n > 1000 && a.n == b.n && !memcmp(a.data, b.data, a.n)); /* the same twice */
    hd_buf_free(&a);
    hd_buf_free(&b);
    hd_ctx_destroy(ctx);
}

static void not_written(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_buf c = {0};
    assert_int_equal(emit(ctx, HD_IR_sigmoid, true, &c), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(ctx), "final (sigmoid)"));
    assert_non_null(strstr(hd_message(ctx), "libheddle_rt"));
    assert_int_equal(emit(ctx, HD_IR_relu, false, &c), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(ctx), "nothing of it runs on the machine"));
    assert_int_equal(c.n, 0);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(written), cmocka_unit_test(not_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
