/* States that a session keeps: of every way that they take between runs, against runs that are
 * given what the run before them gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/compiler.h"
#include "runtime/device/states.h"
#include "runtime/runtime.h"

enum { STEPS = 6, STATES = 5, OUTPUTS = STATES + 1, BYTES = 16 };

/* v: written when nobody reads it any more. h: that is an output itself, of b. s: written by the
 * layer that reads it. b: what h was. f: computed on the host. */
static const char network[] =
    "graph net {\n"
    "  input x i8[1,4]\n  input h i8[1,4]\n  input s i8[1,4]\n  input b i8[1,4]\n"
    "  input v i8[1,4]\n  input f f32[1,4]\n"
    "  variable h i8[1,4] = {1, 2, 3, 4}\n  variable s i8[1,4] = {0, 0, 0, 0}\n"
    "  variable b i8[1,4] = {9, 9, 9, 9}\n  variable v i8[1,4] = {-9, 0, 9, 18}\n"
    "  variable f f32[1,4] = {0.5, 0, 0, 0}\n"
    "  const k f32[] = {0.25}\n  const z i8[] = {0}\n"
    "  m ? = qadd(x, h) to=\"i8\" a_scale=0.5 b_scale=0.75 lo=-128 hi=127\n"
    "  h1 ? = qadd(m, x) to=\"i8\" a_scale=1.0 b_scale=0.5 lo=-128 hi=127\n"
    "  s1 ? = qadd(s, h1) to=\"i8\" a_scale=0.5 b_scale=1.0 lo=-128 hi=127\n"
    "  n ? = qadd(x, v) to=\"i8\" a_scale=1.0 b_scale=0.25 lo=-128 hi=127\n"
    "  v1 ? = qadd(n, s1) to=\"i8\" a_scale=0.5 b_scale=0.5 lo=-128 hi=127\n"
    "  y ? = qadd(v1, b) to=\"i8\" a_scale=1.0 b_scale=0.5 lo=-128 hi=127\n"
    "  e ? = dequantize(h1, k, z)\n  f1 ? = add(f, e)\n"
    "  output y\n  output h1\n  output s1\n  output h\n  output v1\n  output f1\n}\n";

struct bench {
    hd_ctx *ctx;
    hd_model *model[2]; /* for the machine, and for devices of graphs */
    unsigned char want[STEPS][OUTPUTS][BYTES];
};

static hd_model *compile(hd_ctx *ctx, const char *text, bool host_only) {
    hd_graph *g = NULL;
    hd_model *m = NULL;
    struct hd_compile_options o = {
        .latency_hiding = true, .host_only = host_only, .place_all = true};
    if (hd_machine_load(ctx, "base", &o.machine) || hd_graph_parse(ctx, text, "net", &g) ||
        hd_graph_infer(ctx, g) || hd_compile_graph(ctx, g, &o, &m))
        fail_msg("%s", hd_message(ctx));
    hd_graph_destroy(g);
    return m;
}

static void step_input(int k, int8_t x[4]) {
    for (int i = 0; i < 4; i++) x[i] = (int8_t)(k * 31 + i * 57 + 20);
}

static hd_session *open(const struct bench *b, const char *device, bool graph) {
    hd_session *s = NULL;
    if (hd_session_open(b->ctx, b->model[graph], device, NULL, &s))
        fail_msg("%s", hd_message(b->ctx));
    return s;
}

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    *state = b;
    b->ctx = hd_ctx_create();
    b->model[0] = compile(b->ctx, network, false);
    b->model[1] = compile(b->ctx, network, true);
    hd_session *s = open(b, "golden", true);
    for (int k = 0; k < STEPS; k++) {
        int8_t x[4];
        const void *in[OUTPUTS] = {x};
        void *out[OUTPUTS];
        step_input(k, x);
        for (int i = 0; i < STATES; i++)
            in[i + 1] = k ? (void *)b->want[k - 1][i + 1] : b->model[1]->initial[i];
        for (int i = 0; i < OUTPUTS; i++) out[i] = b->want[k][i];
        assert_int_equal(hd_session_run(b->ctx, s, in, out), HD_OK);
    }
    hd_session_close(s);
    assert_memory_not_equal(b->want[0][0], b->want[1][0], 4);
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    hd_model_destroy(b->model[0]);
    hd_model_destroy(b->model[1]);
    hd_ctx_destroy(b->ctx);
    free(b);
    return 0;
}

/* Steps [from, to); of the states only those whose bits are in `shown` are copied out. */
static void run(const struct bench *b, hd_session *s, int from, int to, unsigned shown) {
    for (int k = from; k < to; k++) {
        int8_t x[4];
        unsigned char got[OUTPUTS][BYTES];
        void *out[OUTPUTS];
        step_input(k, x);
        for (int i = 0; i < OUTPUTS; i++) out[i] = i && !(shown >> (i - 1) & 1) ? NULL : got[i];
        if (hd_session_run(b->ctx, s, (const void *[OUTPUTS]){x}, out))
            fail_msg("%s", hd_message(b->ctx));
        for (int i = 0; i < OUTPUTS; i++)
            if (out[i] && memcmp(got[i], b->want[k][i], i == STATES ? BYTES : 4))
                fail_msg("step %d, output %d differs", k, i);
    }
}

static const struct {
    const char *name;
    bool graph;
} devices[] = {{"golden", true}, {"cpu", true}, {"iss", false}, {"golden", false}};
enum { DEVICES = sizeof devices / sizeof *devices };

static void every_device_keeps_them(void **state) {
    const struct bench *b = *state;
    for (int d = 0; d < DEVICES; d++)
        for (unsigned shown = 0; shown < 1 << STATES; shown++) {
            hd_session *s = open(b, devices[d].name, devices[d].graph);
            run(b, s, 0, 3, 0);
            run(b, s, 3, STEPS, shown);
            hd_session_close(s);
        }
}

static void one_stays_in_its_place(void **state) {
    const struct bench *b = *state;
    const hd_model *m = b->model[0];
    int layers = 0;
    for (int i = 0; i < m->n_layers; i++) layers += !strcmp(m->layers[i].op, "qadd");
    assert_int_equal(layers, 6);
    for (int i = 0; i < STATES; i++) assert_int_equal(hd_state_stays(m, i), i == 3);
    assert_int_equal(m->n_states, STATES);
}

/* What was saved on one device goes on with on another. */
static void saved_and_loaded(void **state) {
    const struct bench *b = *state;
    unsigned char data[2][256];
    for (int d = 0; d < DEVICES; d++) {
        hd_session *s = open(b, devices[d].name, devices[d].graph),
                   *t = open(b, devices[(d + 1) % DEVICES].name, devices[(d + 1) % DEVICES].graph);
        size_t bytes = hd_session_state_bytes(s);
        assert_true(bytes == HD_STATE_HEAD + 4 * 4 + 16 && hd_session_state_bytes(t) == bytes);
        run(b, s, 0, 2, 0);
        assert_int_equal(hd_session_state_save(b->ctx, s, data[0]), HD_OK);
        assert_int_equal(hd_session_state_load(b->ctx, t, data[0], bytes), HD_OK);
        assert_int_equal(hd_session_state_save(b->ctx, t, data[1]), HD_OK);
        assert_memory_equal(data[0], data[1], bytes);
        run(b, t, 2, STEPS, 0xf);
        run(b, s, 2, 3, 0); /* saving changed nothing */
        assert_int_equal(hd_session_reset(b->ctx, s), HD_OK);
        run(b, s, 0, STEPS, 0);
        hd_session_close(s);
        hd_session_close(t);
    }
}

static void given_ones_take_their_place(void **state) {
    const struct bench *b = *state;
    for (int d = 0; d < DEVICES; d++) {
        hd_session *s = open(b, devices[d].name, devices[d].graph);
        int8_t x[4];
        unsigned char got[BYTES];
        run(b, s, 0, 4, 0);
        step_input(1, x);
        const void *in[OUTPUTS] = {x};
        for (int i = 0; i < STATES; i++) in[i + 1] = b->want[0][i + 1];
        assert_int_equal(hd_session_run(b->ctx, s, in, (void *[OUTPUTS]){got}), HD_OK);
        assert_memory_equal(got, b->want[1][0], 4);
        run(b, s, 2, STEPS, 0xf);
        hd_session_close(s);
    }
}

/* Each array of its own size, so that a sanitizer sees what goes beyond its end; and others in
 * every second run. */
static void runs_in_place(void **state) {
    const struct bench *b = *state;
    const struct hd_device_options o = {.in_place = true};
    unsigned char *arrays[2][2][OUTPUTS], data[256];
    for (int i = 0; i < 4 * OUTPUTS; i++)
        arrays[i / 2 % 2][i % 2][i / 4] = calloc(1, i / 4 == STATES ? BYTES : 4);
    for (int d = 0; d < 2; d++) {
        hd_session *s = NULL;
        const hd_model *m = b->model[1];
        unsigned char **in = arrays[0][0], **out = arrays[0][1];
        assert_int_equal(hd_session_open(b->ctx, m, devices[d].name, &o, &s), HD_OK);
        for (int k = 1; k < STEPS; k++) {
            in = arrays[k % 2][0], out = arrays[k % 2][1];
            step_input(k, (int8_t *)in[0]);
            for (int i = 1; i < OUTPUTS; i++)
                memcpy(in[i], b->want[k - 1][i], i == STATES ? BYTES : 4);
            assert_int_equal(hd_session_run(b->ctx, s, (const void *const *)in, (void *const *)out),
                             HD_OK);
            for (int i = 0; i < OUTPUTS; i++)
                assert_memory_equal(out[i], b->want[k][i], i == STATES ? BYTES : 4);
        }
        assert_int_equal(hd_session_value(b->ctx, s, m->outputs[0], data), HD_UNSUPPORTED);
        assert_int_equal(hd_session_state_save(b->ctx, s, data), HD_INVALID);
        assert_int_equal(hd_session_run(b->ctx, s, (const void *[OUTPUTS]){in[0]}, (void **)out),
                         HD_INVALID);
        hd_session_close(s);
    }
    for (int i = 0; i < 4 * OUTPUTS; i++) free(arrays[i / 2 % 2][i % 2][i / 4]);
}

static void bad_states_are_refused(void **state) {
    const struct bench *b = *state;
    hd_model *other = compile(b->ctx,
                              "graph net {\n  input x i8[1,32]\n  input h i8[1,32]\n"
                              "  variable h i8[1,32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
                              "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n"
                              "  y ? = qadd(x, h) to=\"i8\" a_scale=1.0 b_scale=1.0 "
                              "lo=-128 hi=127\n  output y\n}\n",
                              true);
    hd_session *s = open(b, "iss", false), *t = NULL;
    unsigned char data[256];
    size_t bytes = hd_session_state_bytes(s);
    assert_int_equal(hd_session_open(b->ctx, other, "golden", NULL, &t), HD_OK);
    assert_int_equal(hd_session_state_bytes(t), bytes); /* alike but for what it is of */
    run(b, s, 0, 2, 0);
    assert_int_equal(hd_session_state_save(b->ctx, t, data), HD_OK);
    assert_int_equal(hd_session_state_load(b->ctx, s, data, bytes), HD_MISMATCH);
    assert_int_equal(hd_session_state_save(b->ctx, s, data), HD_OK);
    assert_int_equal(hd_session_state_load(b->ctx, s, data, bytes - 1), HD_INVALID);
    assert_int_equal(hd_session_state_load(b->ctx, s, data, 3), HD_INVALID);
    data[bytes - 1] ^= 1;
    assert_int_equal(hd_session_state_load(b->ctx, s, data, bytes), HD_INVALID);
    run(b, s, 2, 3, 0); /* and those that it has stay */
    assert_int_equal(hd_session_queue(b->ctx, s, 2), HD_OK);
    assert_int_equal(hd_session_reset(b->ctx, s), HD_INVALID);
    int8_t x[4] = {0};
    unsigned char y[OUTPUTS][BYTES];
    void *out[OUTPUTS] = {y[0], y[1], y[2], y[3], y[4], y[5]};
    assert_int_equal(hd_session_run(b->ctx, s, (const void *[OUTPUTS]){x}, out), HD_INVALID);
    hd_session_close(t);
    hd_session_close(s);
    hd_model_destroy(other);
}

/* The model file has them; one byte that is another is seen by its checksum. */
static void files_hold_them(void **state) {
    struct bench *b = *state;
    struct hd_buf file = {0};
    hd_model *was = b->model[0];
    hd_model_bytes(was, &file);
    assert_int_equal(hd_model_load_memory(b->ctx, file.data, file.n, "net", &b->model[0]), HD_OK);
    assert_int_equal(hd_model_n_states(b->model[0]), STATES);
    assert_int_equal(b->model[0]->network_hash, was->network_hash);
    hd_session *s = open(b, "iss", false);
    run(b, s, 0, STEPS, 0xf);
    hd_session_close(s);
    hd_model_destroy(b->model[0]);
    b->model[0] = was;
    hd_buf_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_keeps_them), cmocka_unit_test(one_stays_in_its_place),
        cmocka_unit_test(saved_and_loaded),        cmocka_unit_test(given_ones_take_their_place),
        cmocka_unit_test(runs_in_place),           cmocka_unit_test(bad_states_are_refused),
        cmocka_unit_test(files_hold_them),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
