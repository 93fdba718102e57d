/* Conformance of devices: the same tests for every row of devices.def that is available here, and
 * for two of them behind heddle serve, with the digits network. A device that is absent is skipped
 * with its own reason. Runs from the top of the repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "driver/remote/remote.h"
#include "runtime/base/socket.h"
#include "runtime/runtime.h"

#define DIGITS "test/models/digits/model.onnx"
enum { PIXELS = 64, CLASSES = 10 };

struct world {
    hd_ctx *ctx;
    const char *name;
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
    w->opt.name = w->name;
    if (w->dev->probe) OK(w, w->dev->probe(w->ctx, &w->opt, &info));
    if (!info.available) {
        print_message("skipped: device %s: %s\n", w->name, info.why_not);
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

/* One memory for host and device, which the device checks like its own, and does not free. */
static void lent_buffer(void **state) {
    struct world *w = need(state);
    hd_device *d;
    hd_buffer b;
    char mine[8] = "heddle?", text[8] = "";
    if (!w->dev->lend) skip();
    OK(w, w->dev->open(w->ctx, &w->opt, &d));
    OK(w, w->dev->lend(w->ctx, d, mine, 7, &b));
    assert_int_not_equal(b.id, 0);
    OK(w, w->dev->write(w->ctx, d, b, 6, "!", 1));
    assert_string_equal(mine, "heddle!");
    mine[0] = 'H';
    OK(w, w->dev->read(w->ctx, d, b, 0, text, 7));
    assert_string_equal(text, "Heddle!");
    assert_int_equal(w->dev->write(w->ctx, d, b, 7, text, 1), HD_INVALID);
    w->dev->free(d, b);
    assert_int_equal(w->dev->read(w->ctx, d, b, 0, text, 1), HD_INVALID);
    OK(w, w->dev->lend(w->ctx, d, mine, 7, &b));
    w->dev->close(d);
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
    assert_int_equal(hd_session_open(w->ctx, m, w->name, &w->opt, &s), HD_MISMATCH);
    hd_model_destroy(m);
}

static void same_as_golden_twice(void **state) {
    struct world *w = need(state);
    hd_model *m = compile(w, "base", true, true);
    hd_session *s, *golden;
    float y[CLASSES], again[CLASSES], want[CLASSES];
    struct hd_counters first, second;
    OK(w, hd_session_open(w->ctx, m, w->name, NULL, &s));
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

/* Sessions one after the other, as every device allows. */
static void sessions_in_turn(void **state) {
    struct world *w = need(state);
    hd_model *m[2] = {compile(w, "base", true, false), compile(w, "base", false, true)};
    float y[3][CLASSES];
    for (int i = 0; i < 3; i++) {
        hd_session *s;
        OK(w, hd_session_open(w->ctx, m[i % 2], w->name, NULL, &s));
        run(w, s, 3, y[i]);
        hd_session_close(s);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(y[0], y[2], sizeof y[0]);
    hd_model_destroy(m[0]);
    hd_model_destroy(m[1]);
}

/* Requests on the cores of a machine, which close in any order; devices of one core, too. */
static void queue_on_cores(void **state) {
    struct world *w = need(state);
    enum { CORES = 3, REQUESTS = 7 };
    struct hd_device_options opt = w->opt;
    hd_model *m = compile(w, "base", true, false);
    hd_session *s, *golden;
    float x[REQUESTS][PIXELS], y[REQUESTS][CLASSES], want[CLASSES];
    uint64_t request[REQUESTS];
    opt.machine.cores = CORES;
    OK(w, hd_session_open(w->ctx, m, w->name, &opt, &s));
    OK(w, hd_session_open(w->ctx, m, "golden", NULL, &golden));
    OK(w, hd_session_queue(w->ctx, s, REQUESTS));
    for (int i = 0; i < REQUESTS; i++) {
        image(x[i], i);
        OK(w, hd_session_submit(w->ctx, s, (const void *[]){x[i]}, (void *[]){y[i]}, &request[i]));
    }
    for (int i = 0; i < REQUESTS; i++) {
        OK(w, hd_session_wait(w->ctx, s, request[i], UINT64_MAX));
        run(w, golden, i, want);
        assert_memory_equal(y[i], want, sizeof want);
    }
    hd_session_close(s);
    hd_session_close(golden);
    hd_model_destroy(m);
}

/* ---- one device, by its own calls ---- */

struct loaded { /* the one program of a model, on a device */
    const hd_model *m;
    int step;
    hd_exec *exec;
    hd_buffer arena;
    hd_session *golden; /* has run: what goes in and what must come out */
};

static void load(struct world *w, hd_device *d, const hd_model *m, struct loaded *l) {
    float y[CLASSES];
    *l = (struct loaded){.m = m, .step = -1};
    for (int i = 0; i < m->n_steps; i++)
        if (m->steps[i].kind == HD_STEP_PROG) l->step = i;
    assert_true(l->step >= 0);
    OK(w, w->dev->load(w->ctx, d, m, l->step, &l->exec));
    OK(w, w->dev->alloc(w->ctx, d, (size_t)m->arena_bytes, &l->arena));
    OK(w, hd_session_open(w->ctx, m, "golden", NULL, &l->golden));
    run(w, l->golden, 5, y);
}

static void unload(struct world *w, hd_device *d, struct loaded *l) {
    w->dev->unload(d, l->exec);
    w->dev->free(d, l->arena);
    hd_session_close(l->golden);
}

/* Values of golden into the arena, or out of it and compared. */
static void move_values(struct world *w, hd_device *d, struct loaded *l, bool in) {
    const struct hd_step *st = &l->m->steps[l->step];
    for (int i = 0; i < (in ? st->n_inputs : st->n_outputs); i++) {
        int v = in ? st->inputs[i] : st->outputs[i];
        const struct hd_value_info *info = &l->m->values[v];
        size_t dense = hd_value_dense_bytes(info), packed = hd_value_arena_bytes(info);
        char *a = calloc(1, dense), *b = calloc(1, dense), *p = calloc(1, packed);
        OK(w, hd_session_value(w->ctx, l->golden, v, a));
        if (in) {
            hd_value_pack(info, a, p);
            OK(w, w->dev->write(w->ctx, d, l->arena, (size_t)info->arena_offset, p, packed));
        } else {
            OK(w, w->dev->read(w->ctx, d, l->arena, (size_t)info->arena_offset, p, packed));
            hd_value_unpack(info, p, b);
            assert_memory_equal(a, b, dense);
        }
        free(a);
        free(b);
        free(p);
    }
}

static void run_loaded(struct world *w, hd_device *d, struct loaded *l) {
    hd_fence fence;
    move_values(w, d, l, true);
    OK(w, w->dev->submit(w->ctx, d, l->exec, &l->arena, &fence));
    OK(w, w->dev->wait(w->ctx, d, fence, UINT64_MAX));
    move_values(w, d, l, false);
}

static void two_models_on_one_device(void **state) {
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    hd_model *a = compile(w, "base", true, false), *b = compile(w, "base", false, true);
    struct loaded la, lb;
    hd_device *d;
    OK(w, w->dev->open(w->ctx, &w->opt, &d));
    load(w, d, a, &la);
    load(w, d, b, &lb);
    for (int i = 0; i < 3; i++) {
        run_loaded(w, d, &la);
        run_loaded(w, d, &lb);
    }
    unload(w, d, &la);
    run_loaded(w, d, &lb);
    unload(w, d, &lb);
    w->dev->close(d);
    hd_model_destroy(a);
    hd_model_destroy(b);
}

/* A program that never ends, without a watchdog: the wait ends when its time is over, with words,
 * and the device works on. */
static void timeout(void **state) {
    static const char deadlock[] = "lx.load wait=7 seg=1 src=0 dst=0 run=16 n1=1 n2=1 n3=1\n"
                                   "seq.barrier\nseq.halt\n";
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    hd_model *m = compile(w, "base", true, false), *bad = compile(w, "base", true, false);
    struct hd_device_options opt = w->opt;
    struct loaded good, stuck;
    uint32_t *words;
    size_t n;
    hd_device *d;
    hd_fence fence;
    opt.watchdog_cycles = UINT32_MAX;
    OK(w, hd_asm(w->ctx, &w->opt.machine, deadlock, "deadlock", &words, &n));
    OK(w, w->dev->open(w->ctx, &opt, &d));
    load(w, d, m, &good);
    for (int i = 0; i < bad->n_steps; i++)
        if (bad->steps[i].kind == HD_STEP_PROG) {
            assert_true(n * 4 <= bad->steps[i].code_bytes);
            memcpy((char *)bad->image + bad->steps[i].code_offset, words, n * 4);
        }
    load(w, d, bad, &stuck);
    for (int i = 0; i < 2; i++) {
        hd_clear(w->ctx);
        OK(w, w->dev->submit(w->ctx, d, stuck.exec, &stuck.arena, &fence));
        assert_int_equal(w->dev->wait(w->ctx, d, fence, 100000000), HD_DEVICE);
        assert_int_not_equal(strlen(hd_message(w->ctx)), 0);
        run_loaded(w, d, &good);
    }
    unload(w, d, &stuck);
    unload(w, d, &good);
    w->dev->close(d);
    free(words);
    hd_model_destroy(m);
    hd_model_destroy(bad);
}

/* Closing gives up what was submitted; the next device is not disturbed. */
static void close_with_work_in_flight(void **state) {
    struct world *w = need(state);
    if (!runs_programs(w)) skip();
    hd_model *m = compile(w, "base", true, false);
    for (int i = 0; i < 2; i++) {
        struct loaded l;
        hd_device *d;
        hd_fence fence;
        OK(w, w->dev->open(w->ctx, &w->opt, &d));
        load(w, d, m, &l);
        run_loaded(w, d, &l);
        OK(w, w->dev->submit(w->ctx, d, l.exec, &l.arena, &fence));
        assert_int_not_equal(w->dev->submit(w->ctx, d, l.exec, &l.arena, &fence), HD_OK);
        unload(w, d, &l);
        w->dev->close(d);
    }
    hd_model_destroy(m);
}

/* ---- every operation ---- */

struct sample {
    const char *consts, *node;
    int n;
    double want[12];
};
/* clang-format off */
static const struct sample samples[] = {
#include "test/unit/cpu_ref/samples_elem.def"
#include "test/unit/cpu_ref/samples_move.def"
#include "test/unit/cpu_ref/samples_nn.def"
#include "test/unit/cpu_ref/samples_reduce.def"
};
/* clang-format on */

/* The samples of golden's kernels, on every device that takes graphs. Devices that take programs
 * have theirs in test/random and test/golden/iss. */
static void every_operation(void **state) {
    struct world *w = need(state);
    if (runs_programs(w)) skip();
    int ran = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *c = &samples[i];
        struct hd_compile_options o = {.host_only = true, .machine = w->opt.machine};
        char text[4096];
        hd_graph *g = NULL;
        hd_model *m = NULL;
        hd_session *s[2] = {NULL, NULL};
        snprintf(text, sizeof text, "graph g {\n%s\ny ? = %s\noutput y\n}\n", c->consts, c->node);
        OK(w, hd_graph_parse(w->ctx, text, c->node, &g));
        OK(w, hd_graph_infer(w->ctx, g));
        hd_status lowered = hd_lower(w->ctx, g, &o, &m);
        if (lowered == HD_UNSUPPORTED || lowered == HD_INVALID) { /* shapes that depend on values */
            assert_non_null(strstr(hd_message(w->ctx), "depends on the values"));
            hd_graph_destroy(g);
            continue;
        }
        OK(w, lowered);
        OK(w, hd_session_open(w->ctx, m, "golden", NULL, &s[0]));
        size_t bytes = hd_value_dense_bytes(&m->values[m->outputs[0]]);
        char *want = calloc(1, bytes + 1), *got = calloc(1, bytes + 1);
        OK(w, hd_session_run(w->ctx, s[0], (const void *[]){NULL}, (void *[]){want}));
        OK(w, hd_session_open(w->ctx, m, w->name, NULL, &s[1]));
        OK(w, hd_session_run(w->ctx, s[1], (const void *[]){NULL}, (void *[]){got}));
        bool is_float = m->values[m->outputs[0]].dtype == 1;
        for (size_t k = 0; is_float && k < bytes / 4; k++) {
            float a = ((float *)(void *)want)[k], b = ((float *)(void *)got)[k];
            if (!(a == b || (a != a && b != b) ||
                  (a - b < 1e-5f * (1 + (a < 0 ? -a : a)) &&
                   b - a < 1e-5f * (1 + (a < 0 ? -a : a)))))
                fail_msg("%s: element %zu is %g, golden says %g", c->node, k, (double)b, (double)a);
        }
        if (!is_float && memcmp(want, got, bytes)) fail_msg("%s: differs from golden", c->node);
        ran++;
        free(want);
        free(got);
        hd_session_close(s[0]);
        hd_session_close(s[1]);
        hd_model_destroy(m);
        hd_graph_destroy(g);
    }
    print_message("%d samples of operations\n", ran);
    assert_true(ran > 200);
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
    hd_status r = hd_session_open(w->ctx, m, w->name, NULL, &s);
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
    OK(w, hd_session_open(w->ctx, m, w->name, NULL, &s)); /* and a good one still runs */
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
        OK(w, hd_session_open(w->ctx, m, w->name, &w->opt, &s));
        run(w, s, 4, y);
        assert_memory_equal(y, want, sizeof y);
        hd_session_close(s);
    }
    w->opt.mem = (struct hd_mem_options){0};
    hd_model_destroy(m);
}

/* ---- all devices ---- */

static int test_one(const char *name) {
    struct world w = {.ctx = hd_ctx_create(), .name = name, .dev = hd_device_by_scheme(name)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(buffers, &w),
        cmocka_unit_test_prestate(lent_buffer, &w),
        cmocka_unit_test_prestate(load_errors, &w),
        cmocka_unit_test_prestate(wrong_machine, &w),
        cmocka_unit_test_prestate(same_as_golden_twice, &w),
        cmocka_unit_test_prestate(sessions_in_turn, &w),
        cmocka_unit_test_prestate(queue_on_cores, &w),
        cmocka_unit_test_prestate(two_models_on_one_device, &w),
        cmocka_unit_test_prestate(timeout, &w),
        cmocka_unit_test_prestate(close_with_work_in_flight, &w),
        cmocka_unit_test_prestate(every_operation, &w),
        cmocka_unit_test_prestate(bad_programs, &w),
        cmocka_unit_test_prestate(jitter_changes_nothing, &w),
    };
    print_message("device %s\n", name);
    int failed = cmocka_run_group_tests_name(name, tests, NULL, NULL);
    hd_ctx_destroy(w.ctx);
    return failed;
}

/* heddle serve as a process of ours, at a socket in `folder`. */
static pid_t serve(const char *folder, char *path) {
    strcpy(path, folder);
    strcat(path, "/socket");
    setenv("XDG_RUNTIME_DIR", folder, 1);
    pid_t pid = fork();
    if (pid) return pid;
    hd_ctx *ctx = hd_ctx_create();
    const struct hd_serve_options o = {
        .find = hd_device_find, .devices = hd_devices, .version = "test", .may_exit = true};
    hd_status s = hd_serve_socket(ctx, &o, path, 0600);
    if (s) fprintf(stderr, "%s\n", hd_message(ctx));
    _exit(s != HD_OK);
}

/* test_device [DEVICE [TEST]]: all, or one device, or one test of it. */
int main(int argc, char **argv) {
    char folder[] = "/tmp/heddle-test-device-XXXXXX", path[64], name[80];
    int failed = 0;
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    setenv("HEDDLE_RTL_DIR", "build/rtl", 0); /* as the program finds it */
    for (int i = 0; hd_devices[i]; i++)
        if (argc < 2 || !strcmp(argv[1], hd_devices[i]->scheme))
            failed += test_one(hd_devices[i]->scheme);
    if (argc > 1 && strcmp(argv[1], "remote")) return failed != 0;
    if (!mkdtemp(folder)) return 1;
    pid_t server = serve(folder, path);
    int there = hd_socket_dial(path, 5000); /* its file is there before it listens */
    if (there >= 0) close(there);
    static const char *const served[] = {"iss", "golden"};
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", path, served[i]);
        failed += test_one(name);
    }
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    char remove[64];
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    return system(remove) != 0 || failed != 0;
}
