/* Turns: in the order of asking, also when a process dies; and models by content, bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "driver/remote/turn.h"
#include "runtime/base/io.h"
#include "runtime/device/cache.h"

static char folder[] = "/tmp/heddle-test-turn-XXXXXX";

static void moment(int ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static hd_ctx *patient, *now; /* now: it is cancelled, so a turn comes at once or not at all */

/* ---- turns ---------------------------------------------------------------------------------- */

/* Takes n turns and writes its letter to fd in each; says first that it is there. */
static pid_t taker(int fd, char letter, int n) {
    pid_t pid = fork();
    if (pid) return pid;
    struct hd_turn t;
    for (int i = 0; i < n; i++) {
        if (!hd_turn_take(&t, folder, "core", 1, patient)) _exit(1);
        if (write(fd, &letter, 1) != 1) _exit(1);
        moment(5);
        hd_turn_drop(&t);
    }
    _exit(0);
}

static void two_in_turn(void **state) {
    (void)state;
    enum { N = 25 };
    int fd[2], status, longest = 0, run = 0;
    char order[2 * N + 1] = "";
    struct hd_turn gate;
    assert_int_equal(pipe(fd), 0);
    assert_true(hd_turn_take(&gate, folder, "core", 1, patient));
    taker(fd[1], 'a', N);
    taker(fd[1], 'b', N);
    for (int ms = 0; ms < 5000 && hd_turn_busy(folder) < 3; ms++) moment(1);
    assert_int_equal(hd_turn_busy(folder), 3);
    hd_turn_drop(&gate);
    for (int i = 0; i < 2; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read(fd[0], order, sizeof order), 2 * N);
    for (int i = 1; i < 2 * N - 4; i++) { /* the end belongs to who is left */
        run = order[i] == order[i - 1] ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    if (longest > 1) fail_msg("not in turn: %.*s", 2 * N, order);
    assert_int_equal(hd_turn_busy(folder), 0);
    close(fd[0]);
    close(fd[1]);
}

static void death_gives_up(void **state) {
    (void)state;
    struct hd_turn t;
    pid_t pid = fork();
    if (!pid) {
        if (!hd_turn_take(&t, folder, "board", 1, patient)) _exit(1);
        for (;;) moment(1000);
    }
    for (int ms = 0; ms < 5000 && !hd_turn_busy(folder); ms++) moment(1);
    moment(20);
    assert_false(hd_turn_take(&t, folder, "board", 1, now)); /* it has the only slot */
    assert_int_equal(hd_turn_busy(folder), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(hd_turn_busy(folder), 0);
    assert_true(hd_turn_take(&t, folder, "board", 1, now));
    hd_turn_drop(&t);
}

/* Who looks removes places whose process died, and may hold a new one before its process does. */
static void seen_by_who_looks(void **state) {
    (void)state;
    pid_t pid = fork();
    if (!pid)
        for (;;) hd_turn_busy(folder);
    int lost = 0;
    for (int i = 0; i < 2000; i++) {
        struct hd_turn t;
        assert_true(hd_turn_take(&t, folder, "board", 1, now));
        lost += hd_turn_busy(folder) != 1;
        hd_turn_drop(&t);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(lost, 0);
}

static void slots(void **state) {
    (void)state;
    struct hd_turn a, b, c;
    assert_true(hd_turn_take(&a, folder, "two", 2, now));
    assert_true(hd_turn_take(&b, folder, "two", 2, now));
    assert_false(hd_turn_take(&c, folder, "two", 2, now));
    assert_true(hd_turn_take(&c, folder, "other", 1, now));
    hd_turn_drop(&c);
    hd_turn_drop(&a);
    assert_true(hd_turn_take(&a, folder, "two", 2, now));
    hd_turn_drop(&a);
    hd_turn_drop(&b);
    assert_false(hd_turn_take(&a, "/no/such/folder", "two", 2, patient));
}

/* ---- models --------------------------------------------------------------------------------- */

/* A model that differs from others by its name, padded to some size by its image. */
static void model_of(int i, size_t image, unsigned char key[HD_SHA256_BYTES], struct hd_buf *out) {
    hd_ctx *ctx = hd_ctx_create();
    hd_model *m = hd_model_create();
    char name[16];
    snprintf(name, sizeof name, "model%d", i);
    m->name = name;
    assert_int_equal(hd_machine_load(ctx, "tiny", &m->machine), HD_OK);
    m->isa_hash = hd_isa_hash();
    m->machine_hash = hd_machine_hash(&m->machine);
    m->image = calloc(1, image);
    m->image_bytes = image;
    hd_model_bytes(m, out);
    hd_sha256(out->data, out->n, key);
    free(m->image);
    hd_model_destroy(m);
    hd_ctx_destroy(ctx);
}

static bool kept(const unsigned char key[HD_SHA256_BYTES]) {
    hd_model *m = hd_cache_get(HD_CACHE_SENT, key);
    hd_model_destroy(m);
    return m != NULL;
}

static void cache_is_bounded(void **state) {
    (void)state;
    unsigned char key[4][HD_SHA256_BYTES];
    struct hd_buf b = {0};
    for (int i = 0; i < 4; i++) { /* three fit; the second is used again before the last comes */
        model_of(i, 300000, key[i], &b);
        assert_false(kept(key[i]));
        hd_cache_put(HD_CACHE_SENT, key[i], b.data, b.n, 1);
        moment(20);
        if (i == 2) assert_true(kept(key[0]));
        moment(20);
    }
    assert_true(kept(key[0]));
    assert_false(kept(key[1]));
    assert_true(kept(key[2]));
    assert_true(kept(key[3]));
    model_of(9, 2 << 20, key[1], &b);
    hd_cache_put(HD_CACHE_SENT, key[1], b.data, b.n, 1);
    assert_false(kept(key[1]));
    hd_buf_free(&b);
}

static void damaged_is_removed(void **state) {
    (void)state;
    unsigned char key[HD_SHA256_BYTES];
    struct hd_buf b = {0};
    model_of(20, 100, key, &b);
    b.data[b.n - 1] ^= 1;
    hd_cache_put(HD_CACHE_SENT, key, b.data, b.n, 1);
    assert_false(kept(key));
    b.data[b.n - 1] ^= 1;
    hd_cache_put(HD_CACHE_SENT, key, b.data, b.n, 1);
    assert_true(kept(key));
    hd_buf_free(&b);
}

static int prepare(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    patient = hd_ctx_create(), now = hd_ctx_create();
    hd_cancel(now);
    return setenv("XDG_CACHE_HOME", folder, 1);
}

static int clean(void **state) {
    (void)state;
    char command[64];
    hd_ctx_destroy(patient), hd_ctx_destroy(now);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_in_turn),       cmocka_unit_test(death_gives_up),
        cmocka_unit_test(seen_by_who_looks), cmocka_unit_test(slots),
        cmocka_unit_test(cache_is_bounded),  cmocka_unit_test(damaged_is_removed)};
    return cmocka_run_group_tests(tests, prepare, clean);
}
