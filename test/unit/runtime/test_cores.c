/* A machine of several cores: what a queue runs on each of them is what one core computes, and none
 * stands still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "runtime/session.h"

enum { CORES = 3, FLIGHTS = 7, RUNS = 40, BYTES = 16 };

/* Weights, which each core's image has; a layer that reads the arena twice. */
static const char network[] =
    "graph net {\n  input x i8[1,16]\n  input h i8[1,16]\n"
    "  m ? = qadd(x, h) to=\"i8\" a_scale=0.5 b_scale=0.75 lo=-128 hi=127\n"
    "  y ? = qadd(m, x) to=\"i8\" a_scale=1.0 b_scale=0.5 lo=-128 hi=127\n  output y\n}\n";

struct bench {
    hd_ctx *ctx;
    hd_model *m;
};

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    hd_graph *g = NULL;
    struct hd_compile_options o = {.latency_hiding = true, .place_all = true};
    b->ctx = hd_ctx_create();
    *state = b;
    if (hd_machine_load(b->ctx, "base", &o.machine) ||
        hd_machine_set(b->ctx, &o.machine, "cores=3") ||
        hd_graph_parse(b->ctx, network, "net", &g) || hd_graph_infer(b->ctx, g) ||
        hd_compile_graph(b->ctx, g, &o, &b->m))
        fail_msg("%s", hd_message(b->ctx));
    hd_graph_destroy(g);
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    hd_model_destroy(b->m);
    hd_ctx_destroy(b->ctx);
    free(b);
    return 0;
}

static hd_session *open(const struct bench *b, const struct hd_device_options *opt) {
    hd_session *s = NULL;
    if (hd_session_open(b->ctx, b->m, "iss", opt, &s)) fail_msg("%s", hd_message(b->ctx));
    return s;
}

static void queue(const struct bench *b, hd_session *s, int n) {
    if (hd_session_queue(b->ctx, s, n)) fail_msg("%s", hd_message(b->ctx));
}

static void input(int run, int8_t x[2][BYTES]) {
    for (int i = 0; i < 2 * BYTES; i++) x[i / BYTES][i % BYTES] = (int8_t)(run * 37 + i * 11);
}

static void submit(const struct bench *b, hd_session *s, const void *const *in, void *out,
                   uint64_t *request) {
    if (hd_session_submit(b->ctx, s, in, &out, request)) fail_msg("%s", hd_message(b->ctx));
}

static void finish(const struct bench *b, hd_session *s, uint64_t request) {
    if (hd_session_wait(b->ctx, s, request, UINT64_MAX)) fail_msg("%s", hd_message(b->ctx));
}

/* By one core; then by a queue, each request waited for when its place is wanted again. */
static void same_bits(void **state) {
    struct bench *b = *state;
    int8_t x[RUNS][2][BYTES], want[RUNS][BYTES], got[RUNS][BYTES];
    uint64_t request[FLIGHTS];
    hd_session *s = open(b, NULL);
    for (int i = 0; i < RUNS; i++) {
        input(i, x[i]);
        const void *in[] = {x[i][0], x[i][1]};
        assert_int_equal(hd_session_run(b->ctx, s, in, (void *[]){want[i]}), HD_OK);
    }
    assert_int_equal(s->n_cores, 0); /* without a queue there is one */
    queue(b, s, FLIGHTS);
    for (int i = 0; i < RUNS + FLIGHTS; i++) {
        if (i >= FLIGHTS) finish(b, s, request[i % FLIGHTS]);
        if (i >= RUNS) continue;
        const void *in[] = {x[i][0], x[i][1]};
        submit(b, s, in, got[i], &request[i % FLIGHTS]);
    }
    assert_memory_equal(got, want, sizeof want);
    hd_session_close(s);
}

/* Requests in flight are shared out evenly, also when those of one core came back first. */
static void shared_out(void **state) {
    struct bench *b = *state;
    int8_t x[2][BYTES], y[FLIGHTS][BYTES];
    const void *in[] = {x[0], x[1]};
    uint64_t request[FLIGHTS];
    hd_session *s = open(b, NULL);
    input(0, x);
    queue(b, s, FLIGHTS);
    assert_int_equal(s->n_cores, CORES - 1);
    for (int i = 0; i < CORES; i++) {
        int n = 0;
        for (int k = 0; k < s->n_slots; k++) n += s->slots[k]->core == i && s->slots[k]->arena.id;
        assert_true(n >= FLIGHTS / CORES); /* slots; the session's own is the first core's */
    }
    for (int i = 0; i < FLIGHTS; i++) submit(b, s, in, y[i], &request[i]);
    for (int i = 0; i < FLIGHTS; i++) /* two of the first core stay */
        if (i != 3 && i != 6) finish(b, s, request[i]);
    submit(b, s, in, y[0], &request[0]);
    finish(b, s, request[0]);
    assert_true(s->last->core > 0);
    finish(b, s, request[3]);
    finish(b, s, request[6]);
    hd_session_close(s);
}

/* Fewer requests than cores; a probe, which is told of one machine's run at a time. */
static void fewer(void **state) {
    struct bench *b = *state;
    hd_session *s = open(b, NULL);
    queue(b, s, 2);
    assert_int_equal(s->n_cores, 1);
    hd_session_close(s);
    const struct hd_probe probe = {.op = NULL};
    struct hd_device_options opt = {.machine = b->m->machine, .probe = &probe};
    s = open(b, &opt);
    queue(b, s, FLIGHTS);
    assert_int_equal(s->n_cores, 0);
    hd_session_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_out, setup, teardown),
        cmocka_unit_test_setup_teardown(fewer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
