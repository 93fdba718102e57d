/* A fleet of two hosts: the least busy one is taken, the other takes over; what cannot be had again
 * is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "driver/remote/client.h"
#include "driver/remote/remote.h"
#include "driver/remote/turn.h"
#include "runtime/runtime.h"

#define DIGITS "test/models/digits/model.onnx"
enum { HOSTS = 2, PIXELS = 64, CLASSES = 10 };

struct world {
    char folder[64], own[HOSTS][80], path[HOSTS][100];
    pid_t server[HOSTS];
    hd_ctx *ctx;
    hd_model *m;
};

#define OK(w, call)                                                                                \
    do {                                                                                           \
        if ((call) != HD_OK) fail_msg("%s", hd_message((w)->ctx));                                 \
    } while (0)

/* Each host has a folder of its own for turns, as another computer has; and a process group. */
static void start(struct world *w, int i) {
    w->server[i] = fork();
    if (w->server[i] == 0) {
        hd_ctx *ctx = hd_ctx_create();
        const struct hd_serve_options o = {
            .find = hd_device_find, .devices = hd_devices, .version = "test", .may_exit = true};
        setpgid(0, 0);
        setenv("XDG_RUNTIME_DIR", w->own[i], 1);
        _exit(hd_serve_socket(ctx, &o, w->path[i], 0600) != HD_OK);
    }
    for (int ms = 0; ms < 5000; ms++) {
        int fd = access(w->path[i], F_OK);
        if (fd == 0) break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void stop(struct world *w, int i) {
    if (w->server[i] <= 0) return;
    kill(-w->server[i], SIGKILL);
    waitpid(w->server[i], NULL, 0);
    unlink(w->path[i]);
    w->server[i] = 0;
}

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    struct hd_compile_options o = {.latency_hiding = true};
    char hosts[100];
    strcpy(w->folder, "/tmp/heddle-test-fleet-XXXXXX");
    w->ctx = hd_ctx_create();
    if (!mkdtemp(w->folder) || hd_machine_load(w->ctx, "tiny", &o.machine) ||
        hd_compile(w->ctx, DIGITS, &o, &w->m))
        return -1;
    snprintf(hosts, sizeof hosts, "%s/hosts", w->folder);
    FILE *f = fopen(hosts, "w");
    fprintf(f, "# two of them\n\n");
    for (int i = 0; i < HOSTS; i++) {
        snprintf(w->own[i], sizeof w->own[i], "%s/%d", w->folder, i);
        snprintf(w->path[i], sizeof w->path[i], "%s/socket", w->own[i]);
        mkdir(w->own[i], 0700);
        fprintf(f, "  %s # host %d\n", w->path[i], i);
        start(w, i);
    }
    fclose(f);
    setenv("HEDDLE_HOSTS", hosts, 1);
    setenv("HEDDLE_REMOTE_TIMEOUT", "3", 1);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    char command[100];
    for (int i = 0; i < HOSTS; i++) stop(w, i);
    snprintf(command, sizeof command, "rm -rf %s", w->folder);
    hd_model_destroy(w->m);
    hd_ctx_destroy(w->ctx);
    free(w);
    return system(command);
}

static hd_device *open_fleet(struct world *w) {
    struct hd_device_options o = {.name = "fleet/iss", .machine = w->m->machine};
    hd_device *d;
    OK(w, hd_device_remote_programs.open(w->ctx, &o, &d));
    return d;
}

static int host_of(const struct world *w, const hd_device *d) {
    for (int i = 0; i < HOSTS; i++)
        if (!strcmp(d->link.host, w->path[i])) return i;
    return -1;
}

static void least_busy(void **state) {
    struct world *w = *state;
    for (int busy = 0; busy < HOSTS; busy++) {
        struct hd_turn t;
        char folder[100];
        snprintf(folder, sizeof folder, "%s/heddle", w->own[busy]);
        mkdir(folder, 0700);
        assert_true(hd_turn_take(&t, folder, "core", 1, w->ctx));
        hd_device *d = open_fleet(w);
        assert_int_equal(host_of(w, d), 1 - busy);
        hd_device_remote_programs.close(d);
        hd_turn_drop(&t);
    }
}

/* A session goes on when its host dies between two runs, and when it stops to answer. */
static void takes_over(void **state) {
    struct world *w = *state;
    hd_session *local, *fleet;
    float x[PIXELS], y[CLASSES], want[CLASSES];
    OK(w, hd_session_open(w->ctx, w->m, "iss", NULL, &local));
    OK(w, hd_session_open(w->ctx, w->m, "fleet/iss", NULL, &fleet));
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < PIXELS; i++) x[i] = (float)((i * 7 + round * 13) % 17);
        if (round == 1) stop(w, 0);
        if (round == 2) start(w, 0);
        if (round == 3) stop(w, 1);
        if (round == 4) start(w, 1);
        if (round == 5) kill(-w->server[0], SIGSTOP);
        OK(w, hd_session_run(w->ctx, local, (const void *[]){x}, (void *[]){want}));
        OK(w, hd_session_run(w->ctx, fleet, (const void *[]){x}, (void *[]){y}));
        assert_memory_equal(y, want, sizeof y);
        assert_int_equal(hd_session_cycles(fleet), hd_session_cycles(local));
    }
    hd_session_close(local);
    hd_session_close(fleet);
}

struct loaded {
    hd_device *d;
    hd_exec *x;
    hd_buffer arena;
};

static void run(struct world *w, struct loaded *l) {
    const struct hd_device_ops *ops = &hd_device_remote_programs;
    int step = 0;
    hd_fence fence;
    while (w->m->steps[step].kind != HD_STEP_PROG) step++;
    l->d = open_fleet(w);
    OK(w, ops->load(w->ctx, l->d, w->m, step, &l->x));
    OK(w, ops->alloc(w->ctx, l->d, (size_t)w->m->arena_bytes, &l->arena));
    OK(w, ops->submit(w->ctx, l->d, l->x, &l->arena, &fence));
    OK(w, ops->wait(w->ctx, l->d, fence, UINT64_MAX));
}

/* Results that were not read come from a second run; once what they came from is another, they are
 * lost. */
static void results(void **state) {
    struct world *w = *state;
    const struct hd_device_ops *ops = &hd_device_remote_programs;
    const size_t n = (size_t)w->m->arena_bytes;
    struct loaded l;
    char *first = malloc(n), *again = malloc(n);
    run(w, &l);
    OK(w, ops->read(w->ctx, l.d, l.arena, 0, first, n));
    stop(w, host_of(w, l.d));
    OK(w, ops->read(w->ctx, l.d, l.arena, 0, again, n));
    assert_memory_equal(first, again, n);
    for (int i = 0; i < HOSTS; i++)
        if (!w->server[i]) start(w, i);
    OK(w, ops->write(w->ctx, l.d, l.arena, 0, "x", 1));
    stop(w, host_of(w, l.d));
    assert_int_equal(ops->read(w->ctx, l.d, l.arena, 0, again, n), HD_DEVICE);
    assert_non_null(strstr(hd_message(w->ctx), "run again"));
    ops->close(l.d);
    free(first);
    free(again);
}

/* ---- memories during a run ---- */

struct seen {
    const struct hd_probe_eye *eye;
    uint64_t hash;
    int looks;
};

static void see_begin(void *user, int step, const uint32_t *program, size_t n_words,
                      const struct hd_probe_eye *eye) {
    (void)step, (void)program, (void)n_words;
    ((struct seen *)user)->eye = eye;
}

/* The memory that the operation has written, as it is now. */
static void see_op(void *user, const struct hd_op_record *r) {
    struct seen *s = user;
    struct hd_probe_state now;
    bool arena = r->unit == HD_UNIT_st;
    if (!arena && r->unit != HD_UNIT_lx && r->unit != HD_UNIT_vx) return;
    assert_true(s->eye->look(s->eye->device, &now));
    int which = arena ? HD_PROBE_ARENA : HD_PROBE_XM;
    assert_non_null(now.memory[which]);
    for (size_t i = 0; i < now.bytes[which]; i++)
        s->hash = (s->hash ^ now.memory[which][i]) * UINT64_C(0x100000001b3);
    s->looks++;
}

/* Another computer shows them as the local device does, operation by operation. */
static void memories(void **state) {
    struct world *w = *state;
    static const char *const name[] = {"iss", "fleet/iss"};
    struct seen seen[2] = {{0}};
    float x[PIXELS], y[CLASSES];
    for (int i = 0; i < PIXELS; i++) x[i] = (float)(i * 7 % 17);
    for (int k = 0; k < 2; k++) {
        const struct hd_probe probe = {
            .user = &seen[k], .begin = see_begin, .op = see_op, .looks = true};
        const struct hd_device_options o = {.machine = w->m->machine, .probe = &probe};
        hd_session *s;
        OK(w, hd_session_open(w->ctx, w->m, name[k], &o, &s));
        OK(w, hd_session_run(w->ctx, s, (const void *[]){x}, (void *[]){y}));
        hd_session_close(s);
    }
    assert_true(seen[0].looks > 20);
    assert_int_equal(seen[0].looks, seen[1].looks);
    assert_true(seen[0].hash == seen[1].hash);
}

static void nobody(void **state) {
    struct world *w = *state;
    struct hd_device_options o = {.name = "fleet/iss", .machine = w->m->machine};
    hd_device *d;
    for (int i = 0; i < HOSTS; i++) stop(w, i);
    assert_int_equal(hd_device_remote_programs.open(w->ctx, &o, &d), HD_DEVICE);
    assert_non_null(strstr(hd_message(w->ctx), "none of the 2 hosts"));
    setenv("HEDDLE_HOSTS", "/dev/null", 1);
    assert_int_equal(hd_device_remote_programs.open(w->ctx, &o, &d), HD_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(least_busy, setup, teardown),
                                       cmocka_unit_test_setup_teardown(takes_over, setup, teardown),
                                       cmocka_unit_test_setup_teardown(results, setup, teardown),
                                       cmocka_unit_test_setup_teardown(memories, setup, teardown),
                                       cmocka_unit_test_setup_teardown(nobody, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
