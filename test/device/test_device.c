/* Conformance of devices: the same tests for every row of devices.def that is available here, with
 * the digits network. A device that is absent is skipped with its own reason. Runs from the top of
 * the repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "runtime/runtime.h"

#define DIGITS "test/models/digits/model.onnx"
enum { PIXELS = 64, CLASSES = 10 };

struct world {
    hd_ctx *ctx;
    const struct hd_device_ops *dev;
    struct hd_device_options opt;
};

#define OK(w, call)                                                                                \
    do {                                                                                           \
        if ((call) != HD_OK) fail_msg("%s", hd_message((w)->ctx));                                 \
    } while (0)

/* The device under test, or a skip with the reason. */
static struct world *need(void **state) {
    struct world *w = *state;
    struct hd_device_info info = {.available = true};
    OK(w, hd_machine_load(w->ctx, "base", &w->opt.machine));
    if (w->dev->probe) OK(w, w->dev->probe(w->ctx, &w->opt, &info));
    if (!info.available) {
        print_message("skipped: device %s: %s\n", w->dev->scheme, info.why_not);
        skip();
    }
    return w;
}

static bool runs_programs(const struct world *w) {
    return w->dev->sections & HD_RUNS_PROG;
}

static hd_model *compile(struct world *w, const char *machine, bool hiding, bool keep_all) {
    struct hd_compile_options o = {.latency_hiding = hiding, .keep_all = keep_all};
    hd_model *m;
    OK(w, hd_machine_load(w->ctx, machine, &o.machine));
    OK(w, hd_compile(w->ctx, DIGITS, &o, &m));
    return m;
}

static void image(float *x, int seed) {
    for (int i = 0; i < PIXELS; i++) x[i] = (float)((i * 7 + seed * 13) % 17);
}

static void run(struct world *w, hd_session *s, int seed, float *logits) {
    float x[PIXELS];
    image(x, seed);
    memset(logits, 0, CLASSES * sizeof *logits);
    OK(w, hd_session_run(w->ctx, s, (const void *[]){x}, (void *[]){logits}));
}

static void buffers(void **state) {
    struct world *w = need(state);
    hd_device *d;
    hd_buffer a, b;
    char text[8] = "";
    OK(w, w->dev->open(w->ctx, &w->opt, &d));
    OK(w, w->dev->alloc(w->ctx, d, 100, &a));
    OK(w, w->dev->alloc(w->ctx, d, 1, &b));
    assert_int_not_equal(a.id, 0);
    assert_int_not_equal(b.id, 0);
    assert_int_not_equal(a.id, b.id);
    OK(w, w->dev->write(w->ctx, d, a, 93, "heddle!", 7));
    OK(w, w->dev->read(w->ctx, d, a, 93, text, 7));
    assert_string_equal(text, "heddle!");
    assert_int_equal(w->dev->write(w->ctx, d, a, 94, text, 7), HD_INVALID);
    assert_int_equal(w->dev->read(w->ctx, d, a, 101, text, 0), HD_INVALID);
    assert_int_equal(w->dev->read(w->ctx, d, a, SIZE_MAX, text, 2), HD_INVALID);
    assert_int_equal(w->dev->write(w->ctx, d, (hd_buffer){0}, 0, text, 1), HD_INVALID);
    w->dev->free(d, a);
    OK(w, w->dev->write(w->ctx, d, b, 0, "x", 1));
    w->dev->close(d); /* frees b */
}

static void load_errors(void **state) {
    struct world *w = need(state);
    hd_model *m = compile(w, "base", true, false);
    hd_device *d;
    hd_exec *x;
    OK(w, w->dev->open(w->ctx, &w->opt, &d));
    assert_int_not_equal(w->dev->load(w->ctx, d, m, m->n_steps, &x), HD_OK);
    for (int i = 0; i < m->n_steps; i++)
        if ((m->steps[i].kind == HD_STEP_PROG) != runs_programs(w))
            assert_int_not_equal(w->dev->load(w->ctx, d, m, i, &x), HD_OK);
    w->dev->close(d);
    hd_model_destroy(m);
}

static void wrong_machine(void **state) {
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    hd_model *m = compile(w, "tiny", true, false);
    hd_session *s;
    assert_int_equal(hd_session_open(w->ctx, m, w->dev->scheme, &w->opt, &s), HD_MISMATCH);
    hd_model_destroy(m);
}

static void same_as_golden_twice(void **state) {
    struct world *w = need(state);
    hd_model *m = compile(w, "base", true, true);
    hd_session *s, *golden;
    float y[CLASSES], again[CLASSES], want[CLASSES];
    struct hd_counters first, second;
    OK(w, hd_session_open(w->ctx, m, w->dev->scheme, NULL, &s));
    OK(w, hd_session_open(w->ctx, m, "golden", NULL, &golden));
    run(w, s, 1, y);
    OK(w, hd_session_counters(w->ctx, s, &first));
    uint64_t layers = 0;
    for (int i = 0; i < first.n_layers; i++) layers += first.layers[i].cycles;
    run(w, golden, 1, want);
    assert_memory_equal(y, want, sizeof y);
    for (int v = 0; v < m->n_values; v++) {
        size_t bytes = hd_value_dense_bytes(&m->values[v]);
        char *a = malloc(bytes), *b = malloc(bytes);
        OK(w, hd_session_value(w->ctx, golden, v, b));
        if (hd_session_value(w->ctx, s, v, a) == HD_OK) assert_memory_equal(a, b, bytes);
        free(a);
        free(b);
    }
    run(w, s, 2, again);
    run(w, s, 1, again);
    assert_memory_equal(y, again, sizeof y);
    OK(w, hd_session_counters(w->ctx, s, &second));
    assert_int_equal(first.cycles, second.cycles);
    if (first.layers) assert_int_equal(layers, first.cycles); /* layers share out all cycles */
    if (runs_programs(w)) assert_true(first.cycles > 0 && first.unit[HD_UNIT_mx].busy > 0);
    hd_session_close(s);
    hd_session_close(golden);
    hd_model_destroy(m);
}

static void two_models_in_turn(void **state) {
    struct world *w = need(state);
    if (!strcmp(w->dev->scheme, "xrt")) {
        print_message("skipped: XRT gives a device to one session at a time\n");
        skip();
    }
    hd_model *a = compile(w, "base", true, false), *b = compile(w, "base", false, true);
    hd_session *sa, *sb;
    float ya[CLASSES], yb[CLASSES], again[CLASSES];
    OK(w, hd_session_open(w->ctx, a, w->dev->scheme, NULL, &sa));
    OK(w, hd_session_open(w->ctx, b, w->dev->scheme, NULL, &sb));
    run(w, sa, 3, ya);
    run(w, sb, 3, yb);
    run(w, sa, 3, again);
    assert_memory_equal(ya, yb, sizeof ya);
    assert_memory_equal(ya, again, sizeof ya);
    hd_session_close(sa);
    run(w, sb, 3, again);
    assert_memory_equal(ya, again, sizeof ya);
    hd_session_close(sb);
    hd_model_destroy(a);
    hd_model_destroy(b);
}

/* A program whose word `word` is changed: refused at load or by the machine, with words; nothing
 * hangs. */
static void refuses_program(struct world *w, size_t word, uint32_t value) {
    hd_model *m = compile(w, "base", true, false);
    hd_session *s = NULL;
    float x[PIXELS] = {0}, y[CLASSES];
    hd_clear(w->ctx);
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG)
            memcpy((char *)m->image + m->steps[i].code_offset + 4 * word, &value, sizeof value);
    hd_status r = hd_session_open(w->ctx, m, w->dev->scheme, NULL, &s);
    if (r == HD_OK) r = hd_session_run(w->ctx, s, (const void *[]){x}, (void *[]){y});
    assert_true(r == HD_DEVICE || r == HD_MISMATCH || r == HD_INVALID);
    assert_int_not_equal(strlen(hd_message(w->ctx)), 0);
    hd_session_close(s);
    hd_model_destroy(m);
}

static void bad_programs(void **state) {
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    refuses_program(w, 0, 0x12345678); /* magic */
    refuses_program(w, 1, 0x12345678); /* instruction set */
    refuses_program(w, 2, 0x12345678); /* machine */
    refuses_program(w, 4, 0);          /* first bundle */
    refuses_program(w, 5, 0xf);        /* its first operation: unknown code */
    hd_model *m = compile(w, "base", true, false);
    hd_session *s;
    float y[CLASSES];
    OK(w, hd_session_open(w->ctx, m, w->dev->scheme, NULL, &s)); /* and a good one still runs */
    run(w, s, 1, y);
    hd_session_close(s);
    hd_model_destroy(m);
}

static void jitter_changes_nothing(void **state) {
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    hd_model *m = compile(w, "base", true, false);
    hd_session *s;
    float y[CLASSES], want[CLASSES];
    OK(w, hd_session_open(w->ctx, m, "golden", NULL, &s));
    run(w, s, 4, want);
    hd_session_close(s);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        w->opt.mem = (struct hd_mem_options){.jitter = true, .jitter_seed = seed};
        OK(w, hd_session_open(w->ctx, m, w->dev->scheme, &w->opt, &s));
        run(w, s, 4, y);
        assert_memory_equal(y, want, sizeof y);
        hd_session_close(s);
    }
    w->opt.mem = (struct hd_mem_options){0};
    hd_model_destroy(m);
}

int main(void) {
    int failed = 0;
    setenv("HEDDLE_RTL_DIR", "build/rtl", 0); /* as the program finds it */
    for (int i = 0; hd_devices[i]; i++) {
        struct world w = {.ctx = hd_ctx_create(), .dev = hd_devices[i]};
        const struct CMUnitTest tests[] = {
            cmocka_unit_test_prestate(buffers, &w),
            cmocka_unit_test_prestate(load_errors, &w),
            cmocka_unit_test_prestate(wrong_machine, &w),
            cmocka_unit_test_prestate(same_as_golden_twice, &w),
            cmocka_unit_test_prestate(two_models_in_turn, &w),
            cmocka_unit_test_prestate(bad_programs, &w),
            cmocka_unit_test_prestate(jitter_changes_nothing, &w),
        };
        print_message("device %s\n", w.dev->scheme);
        failed += cmocka_run_group_tests_name(w.dev->scheme, tests, NULL, NULL);
        hd_ctx_destroy(w.ctx);
    }
    return failed != 0;
}
