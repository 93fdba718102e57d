/* Plans are tried beside each other (search/search.c): the program is the same with threads, and
 * without them, where compilers run beside each other. */
#include "runtime/base/parallel.h"
#include "test/unit/plan/convolution.h"

enum { MODELS = 3 };

struct job {
    hd_ctx *ctx[MODELS];
    hd_graph *g[MODELS];
    hd_model *model[MODELS];
    const char *machine;
};

static void compile(void *arg, int64_t i, int thread) {
    (void)thread;
    struct job *j = arg;
    struct hd_compile_options o = {.latency_hiding = true, .mem_latency = 64};
    if (load_machine(j->ctx[i], j->machine, &o.machine) != HD_OK ||
        hd_lower(j->ctx[i], j->g[i], &o, &j->model[i]) != HD_OK)
        j->model[i] = NULL;
}

static void compile_rest(void *arg, int64_t i, int thread) {
    compile(arg, i + 1, thread);
}

/* Expand, depthwise, project, twice: they roll, or stream, or stay. */
static hd_graph *blocks(hd_ctx *ctx, int64_t c, int64_t h) {
    hd_graph *g = hd_graph_create();
    int y = add_input(g, c, h, h);
    for (int i = 0; i < 2; i++) {
        struct conv_shape expand = {c, h, h, {1, 1}, {1, 1}, {0, 0}, .oc = 4 * c},
                          window = {4 * c, h, h, {3, 3}, {1, 1}, {1, 1}, .oc = 0},
                          project = {4 * c, h, h, {1, 1}, {1, 1}, {0, 0}, .oc = c};
        y = add_convolution(g, y, &expand, i ? "expand2" : "expand1");
        y = add_convolution(g, y, &window, i ? "window2" : "window1");
        y = add_convolution(g, y, &project, i ? "project2" : "project1");
    }
    return ends_with(ctx, g, y);
}

static void same_program(void **state) {
    (void)state;
    static const char *const machines[] = {"tiny", "base"};
    assert_true(hd_threads_open(3));
    for (int k = 0; k < 4; k++) {
        struct job j = {.machine = machines[k % 2]};
        for (int i = 0; i < MODELS; i++)
            j.ctx[i] = hd_ctx_create(), j.g[i] = blocks(j.ctx[i], k < 2 ? 16 : 24, k < 2 ? 14 : 28);
        compile(&j, 0, 0);
        hd_parallel(2, MODELS - 1, compile_rest, &j); /* in there, plans are tried one by one */
        for (int i = 0; i < MODELS; i++) {
            assert_non_null(j.model[i]);
            assert_int_equal(j.model[i]->image_bytes, j.model[0]->image_bytes);
            assert_memory_equal(j.model[i]->image, j.model[0]->image, j.model[0]->image_bytes);
            assert_int_equal(j.model[i]->steps[0].estimate, j.model[0]->steps[0].estimate);
        }
        for (int i = 0; i < MODELS; i++)
            hd_model_destroy(j.model[i]), hd_graph_destroy(j.g[i]), hd_ctx_destroy(j.ctx[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
