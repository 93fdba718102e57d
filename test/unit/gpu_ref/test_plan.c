/* Plans against a driver that stands in: the calls it gets are legal, a run allocates nothing, all
 * is given back, and every call may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "gpu_ref/gpu_choice.h"
#include "gpu_ref/gpu_peaks.h"
#include "gpu_ref/gpu_plan.h"
#include "test/gpu/stand_in.h"

/* A convolution, what is fused or not, two branches, a view, and a node for the host (det). */
static const char nodes[] =
    "a ? = conv(x, w) kernel_shape=[3,3] pads=[1,1,1,1]\nb ? = relu(a)\n"
    "c ? = conv(b, w) kernel_shape=[3,3] pads=[1,1,1,1]\nd ? = add(b, c)\n"
    "e ? = softmax(d) axis=3\nf ? = reshape(e) shape=[12,4,4]\ng ? = det(f)\n"
    "h ? = neg(d)\ni ? = reducemax(h) keepdims=0\nj ? = add(g, i)\ny ? = exp(j)\n";

struct world {
    hd_ctx *ctx;
    hd_graph *g;
    hd_model *m;
    struct hd_host_io io;
    hd_arena *a;
};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    struct hd_compile_options o = {.host_only = true};
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    fputs("graph net {\n input x f32[1,3,8,8]\n const w f32[3,3,3,3] = {", f);
    for (int i = 0; i < 81; i++) fprintf(f, "%s%d", i ? "," : "", i % 7 - 3);
    fprintf(f, "}\n%s output y\n}\n", nodes);
    fclose(f);
    w->ctx = hd_ctx_create();
    w->a = hd_arena_create();
    if (hd_machine_load(w->ctx, "base", &o.machine) != HD_OK ||
        hd_graph_parse(w->ctx, text, "net", &w->g) != HD_OK ||
        hd_graph_infer(w->ctx, w->g) != HD_OK || hd_lower(w->ctx, w->g, &o, &w->m) != HD_OK ||
        hd_host_choose_io(w->ctx, w->a, w->m, -1, w->g, &w->io) != HD_OK)
        fail_msg("%s", hd_message(w->ctx));
    free(text);
    int live = stand_in.live;
    stand_in = (struct hd_gpu){.limits = {.name = "stand-in",
                                          .f64 = true,
                                          .exact_divide = true,
                                          .local_bytes = 48 << 10,
                                          .max_threads = 1024,
                                          .align = 256,
                                          .memory_bytes = 1 << 20,
                                          .max_bytes = 1 << 20}};
    assert_int_equal(live, 0);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    hd_model_destroy(w->m);
    hd_graph_destroy(w->g);
    hd_arena_destroy(w->a);
    hd_ctx_destroy(w->ctx);
    free(w);
    return 0;
}

static int joined; /* nodes of the last plan that have no step of their own */

/* Makes a plan and runs it twice; gives back what it took. */
static hd_status plan_and_run(struct world *w, bool no_fallback, struct hd_gpu_share *out) {
    struct hd_gpu_plan *p = NULL;
    hd_gpu_mem *buffer[64] = {NULL};
    int n = w->io.n_in + w->io.n_out;
    hd_status s =
        hd_gpu_plan_create(w->ctx, &stand_in_api, &stand_in, w->g, w->m, &w->io, NULL, 0,
                           &(struct hd_device_options){.no_fallback = no_fallback}, NULL, &p);
    for (int i = 0; i < n && s == HD_OK; i++) {
        int value = i < w->io.n_in ? w->io.in[i] : w->io.out[i - w->io.n_in];
        s = stand_in_api.alloc(w->ctx, &stand_in, hd_value_dense_bytes(&w->m->values[value]),
                               &buffer[i]);
    }
    joined = 0;
    for (size_t i = 0; s == HD_OK && i < p->n_steps; i++) joined += p->steps[i].n_nodes - 1;
    stand_in.running = true;
    for (int run = 0; run < 2 && s == HD_OK; run++)
        s = hd_gpu_plan_run(w->ctx, p, buffer, run == 1);
    stand_in.running = false;
    if (s == HD_OK) *out = hd_gpu_plan_share(p);
    hd_gpu_plan_destroy(p);
    for (int i = 0; i < n; i++)
        if (buffer[i]) stand_in_api.free(&stand_in, buffer[i]);
    return s;
}

static void legal_calls(void **state) {
    struct world *w = *state;
    struct hd_gpu_share share = {0};
    if (plan_and_run(w, false, &share) != HD_OK) fail_msg("%s", hd_message(w->ctx));
    assert_null(stand_in.wrong);
    assert_int_equal(stand_in.live, 0);
    assert_true(stand_in.launches >= 2 * 5);
    assert_int_equal(joined,
                     3); /* relu and add with convolutions, exp with add; not neg: two read d */
    assert_int_equal(share.nodes, 11);
    assert_int_equal(share.device_nodes, 10); /* det is the host's */
    assert_int_equal(share.macs, share.device_macs);
    assert_int_equal(stand_in.allocations, 3 + w->io.n_out); /* temporaries, weights, x */
}

static void every_call_may_fail(void **state) {
    struct world *w = *state;
    struct hd_gpu_share share = {0};
    assert_int_equal(plan_and_run(w, false, &share), HD_OK);
    int calls = stand_in.calls;
    assert_true(calls > 20);
    for (int at = 1; at <= calls; at++) {
        stand_in.calls = 0;
        stand_in.fail_at = at;
        assert_int_equal(plan_and_run(w, false, &share), HD_DEVICE);
        assert_non_null(strstr(hd_message(w->ctx), "fails"));
        hd_clear(w->ctx);
        assert_int_equal(stand_in.live, 0);
        assert_null(stand_in.wrong);
    }
}

static void little_memory(void **state) {
    struct world *w = *state;
    struct hd_gpu_share share;
    stand_in.limits.memory_bytes = 900;
    assert_int_equal(plan_and_run(w, false, &share), HD_NOMEM);
    assert_non_null(strstr(hd_message(w->ctx), "allows 1048576 at once and 900 in all"));
    assert_int_equal(stand_in.live, 0);
}

static void no_fallback(void **state) {
    struct world *w = *state;
    struct hd_gpu_share share;
    assert_int_equal(plan_and_run(w, true, &share), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(w->ctx), "(det) would run on the host"));
    assert_int_equal(stand_in.live, 0);
}

/* Without a device: what a step must move, and no call of a driver. */
static void on_paper(void **state) {
    struct world *w = *state;
    struct hd_gpu_plan *p = NULL;
    struct hd_gpu_peaks peak;
    assert_int_equal(
        hd_gpu_plan_on_paper(w->ctx, &stand_in_api, &stand_in.limits, w->g, w->m, NULL, &p), HD_OK);
    struct hd_exec_step s = hd_gpu_step_facts(p, &p->steps[0]); /* a, b */
    assert_string_equal(s.op, "conv");
    assert_int_equal(s.n_nodes, 2);
    assert_int_equal(s.bytes, 4 * (3 * 64 + 81 + 3 * 64)); /* x, w, b; never a */
    assert_int_equal(s.macs, 27 * 3 * 64);
    assert_false(s.bytewise);
    hd_gpu_plan_destroy(p);
    assert_int_equal(stand_in.calls, 0);
    assert_true(hd_gpu_peaks_of_card("NVIDIA H100 80GB HBM3", &peak));
    assert_true(peak.int8 == 1978.9e12 && peak.bytes == 3350e9);
    assert_false(hd_gpu_peaks_of_card("a card of next year", &peak));
    struct hd_gpu_limits l = {.units = 2, .clock_mhz = 1000, .lanes = 16};
    assert_true(hd_gpu_peaks_of_limits(&l).f32 == 64e9);
}

/* The source of the plan's kernels, when a file has this choice for its first convolution. A choice
 * of NULL: no file. device NULL: this one. The caller frees it. */
static char *source_with(struct world *w, const struct hd_dialect *dialect, const char *device,
                         const char *choice, bool *out_tuned) {
    static const char db[] = "build/test_plan.db";
    struct hd_gpu_api api = stand_in_api;
    struct hd_gpu_plan *p = NULL;
    struct hd_gpu_tuning t = {0};
    api.dialect = dialect;
    if (hd_gpu_plan_on_paper(w->ctx, &api, &stand_in.limits, w->g, w->m, NULL, &p) != HD_OK)
        fail_msg("%s", hd_message(w->ctx));
    remove(db);
    assert_int_equal(hd_schedules_open(w->ctx, db, true, &t.db), HD_OK);
    const char *key = hd_gpu_device_key(w->a, &api, &stand_in.limits);
    const struct hd_schedule_row own = {key, p->works.work[0].name, "", 2e-6},
                                 row = {device ? device : key, p->works.work[0].name, choice, 1e-6};
    assert_int_equal(hd_schedules_put(w->ctx, t.db, &own), HD_OK);
    if (choice) assert_int_equal(hd_schedules_put(w->ctx, t.db, &row), HD_OK);
    hd_gpu_plan_destroy(p);
    assert_int_equal(hd_gpu_plan_on_paper(w->ctx, &api, &stand_in.limits, w->g, w->m, &t, &p),
                     HD_OK);
    char *text = strdup(hd_kernels_text(p->kernels));
    assert_int_equal(p->steps[0].n_nodes, 2); /* a and b stay one */
    *out_tuned = !strcmp(p->steps[0].how, "stand-in, tuned");
    assert_string_equal(p->steps[1].how, "stand-in"); /* another shape has another name */
    hd_gpu_plan_destroy(p);
    hd_schedules_close(t.db);
    remove(db);
    return text;
}

/* What a file has changes the kernel, in both languages; what is wrong or another device's does
 * not, and is told of. */
static void a_file_of_schedules(void **state) {
    static const struct {
        const char *device, *choice, *warning;
    } cases[] = {
        {NULL, "tile 3x7, threads 1x1, depth 2", NULL},
        {NULL, "flat, 32 threads, 4 each", NULL},
        {"opencl a card of next year, driver 1, tiles of a GPU", "flat, 32 threads, 4 each", ""},
        {NULL, "tile 3x7", "has 'tile 3x7' for f32 1x3x8x8 "},
        {NULL, "warps 4, columns 32x2", "which does not fit: it has no product to tile, or no"},
        {NULL, "tile 1x1, threads 32x32, depth 1", NULL},
        {NULL, "tile 256x16, threads 1x1, depth 256", "bytes of local memory, at most 49152"},
    };
    struct world *w = *state;
    const struct hd_dialect *dialects[] = {&hd_dialect_opencl, &hd_dialect_cuda};
    for (int d = 0; d < 2; d++) {
        bool tuned;
        char *plain = source_with(w, dialects[d], NULL, NULL, &tuned);
        assert_false(tuned);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            size_t before = strlen(hd_warnings(w->ctx));
            char *text = source_with(w, dialects[d], cases[i].device, cases[i].choice, &tuned);
            const char *told = hd_warnings(w->ctx) + before;
            assert_int_equal(tuned, !cases[i].warning);
            if (tuned) assert_string_not_equal(text, plain);
            if (!tuned) assert_non_null(strstr(text, strstr(plain, " k0(")));
            if (d == 0 && cases[i].warning) assert_non_null(strstr(told, cases[i].warning));
            if (!cases[i].warning || !*cases[i].warning) assert_int_equal(strlen(told), 0);
            if (i == 0) assert_non_null(strstr(text, "[21];")); /* the sums of a thread */
            free(text);
        }
        free(plain);
    }
    assert_int_equal(stand_in.calls, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(legal_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(every_call_may_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(little_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(no_fallback, setup, teardown),
        cmocka_unit_test_setup_teardown(on_paper, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_of_schedules, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
