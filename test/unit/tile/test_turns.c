/* Rounds of a rolling chain that are alike: what runs is what runs without turns, in the same order
 * of each unit, with the same words, waits and signals. */
#include "test/unit/tile/convolution.h"

/* A 3x3 convolution and pairs of depthwise 3x3 and 1x1. Large, so that nobody counts its bytes
 * unasked. */
static hd_graph *pairs(hd_ctx *ctx, int n) {
    static const struct conv_shape first = {32, 96, 96, {3, 3}, {1, 1}, {1, 1}, .oc = 32},
                                   window = {32, 0, 0, {3, 3}, {1, 1}, {1, 1}, .oc = 0},
                                   point = {32, 0, 0, {1, 1}, {1, 1}, {0, 0}, .oc = 32};
    hd_graph *g = hd_graph_create();
    int y = add_convolution(g, add_input(g, 32, 96, 96), &first, "first");
    for (int i = 0; i < n; i++)
        y = add_convolution(g, add_convolution(g, y, &window, "window"), &point, "point");
    return ends_with(ctx, g, y);
}

struct ran { /* operations that run, those of a unit one behind the other */
    struct hd_op {
        uint32_t unit, code, tag, wait, signal, words[HD_PARAM_WORDS];
    } * op;
    size_t n, left_out;
};

static struct ran ran(hd_ctx *ctx, const hd_model *m) {
    struct ran r = {0};
    struct hd_sticky sticky[HD_UNITS] = {{.tag = 0}};
    struct hd_op_word op[HD_UNITS];
    uint32_t *words;
    size_t n;
    int offset[HD_UNITS], ops;
    const char *why;
    const void *code = (const char *)m->image + m->steps[0].code_offset;
    assert_int_equal(hd_prog_unpack(ctx, code, m->steps[0].code_bytes / 4, &words, &n), HD_OK);
    r.op = calloc(n, sizeof *r.op);
    assert_non_null(r.op);
    for (enum hd_unit u = HD_UNIT_lx; u < HD_UNITS; u++) {
        memset(sticky, 0, sizeof sticky);
        for (size_t at = HD_PROG_HEADER_WORDS; at < n;) {
            int length = hd_bundle_decode(words + at, n - at, op, offset, &ops, &why);
            assert_true(length > 0);
            at += (size_t)length;
            for (int i = 0; i < ops; i++) {
                if (op[i].unit != u) continue;
                const uint32_t *held = hd_op_apply(&op[i], &sticky[u]);
                r.left_out += !hd_op_runs(held);
                if (!hd_op_runs(held)) continue;
                struct hd_op *to = &r.op[r.n++];
                *to = (struct hd_op){u, op[i].code, sticky[u].tag, op[i].wait, op[i].signal, {0}};
                memcpy(to->words, held, sizeof to->words);
                to->words[HD_TURN_WORD] = to->words[HD_TURNS_WORD] = 0;
            }
        }
    }
    free(words);
    return r;
}

static void what_runs_is_what_ran(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    static const char *const machines[] = {"base", "big"};
    for (int m = 0; m < 2; m++)
        for (int n = 1; n <= 3; n++) {
            struct ran r[2];
            for (int turns = 0; turns < 2; turns++) {
                struct hd_compile_options o = {
                    .latency_hiding = true, .mem_latency = 64, .all_turns = turns};
                hd_model *model = NULL;
                hd_graph *g = pairs(ctx, n);
                assert_int_equal(load_machine(ctx, machines[m], &o.machine), HD_OK);
                if (hd_lower(ctx, g, &o, &model) != HD_OK) fail_msg("%s", hd_message(ctx));
                assert_int_equal(model->n_steps, 1);
                r[turns] = ran(ctx, model);
                hd_model_destroy(model);
                hd_graph_destroy(g);
            }
            assert_int_equal(r[0].left_out, 0);
            assert_true(r[1].left_out > 0);
            assert_int_equal(r[0].n, r[1].n);
            assert_memory_equal(r[0].op, r[1].op, r[0].n * sizeof *r[0].op);
            for (int turns = 0; turns < 2; turns++) free(r[turns].op);
        }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_runs_is_what_ran)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
