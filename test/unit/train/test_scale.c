/* A loss scale that adapts itself, on every device that runs graphs: overflows that are planted,
 * steps that are left out as if they had never been, checkpoints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/io.h"
#include "runtime/train/layers.h"
#include "runtime/train/train.h"
#include "test/rng.h"

/* STATE: of a checkpoint, in front of weights: its first line and the step. */
enum { SHARDS = 4, BATCH = 2, PIXELS = 64, STATE = 20, SCALE_BYTES = 12 };
enum step { GOOD, BAD };

static const char *const devices[] = {"golden", "cpu", "opencl"};
enum { N_DEVICES = sizeof devices / sizeof *devices };

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static struct hd_train_options options(const char *device, int shards) {
    struct hd_train_options o = {.device = device, .threads = 1, .shards = shards};
    o.optimizer = hd_optimizer_default(HD_OPTIMIZER_adamw);
    o.optimizer.weight_decay = 0.01;
    o.precision = "bf16", o.scale_steps = 2000;
    return o;
}

/* NULL: the device is not here. */
static hd_trainer *opened(hd_ctx *ctx, const struct hd_train_options *o) {
    hd_graph *g = NULL;
    hd_trainer *t = NULL;
    int64_t batch = o->shards > 1 ? BATCH : SHARDS * BATCH;
    want_ok(ctx, hd_zoo_build(ctx, "mlp:16:16", batch, 3, &g));
    hd_status s = hd_trainer_open(ctx, g, o, &t);
    hd_graph_destroy(g);
    if (s != HD_OK && !strcmp(o->device, "opencl")) return NULL;
    want_ok(ctx, s);
    return t;
}

/* A step as one graph, and as two halves. OpenCL's compilers take their time: it gets one of them.
 */
static void everywhere(void (*fn)(hd_ctx *, const char *device, int shards)) {
    hd_ctx *ctx = hd_ctx_create();
    for (int i = 0; i < N_DEVICES; i++) fn(ctx, devices[i], SHARDS);
    fn(ctx, "golden", 1);
    fn(ctx, "cpu", 1);
    hd_ctx_destroy(ctx);
}

/* BAD: one pixel of one sample, whose products are not finite. */
static void step(hd_ctx *ctx, hd_trainer *t, struct rng *r, enum step kind) {
    float x[SHARDS * BATCH * PIXELS];
    int64_t k[SHARDS * BATCH];
    struct hd_train_result out;
    for (int i = 0; i < SHARDS * BATCH * PIXELS && kind == GOOD; i++)
        x[i] = (float)(rng_next(r) % 17);
    for (int i = 0; i < SHARDS * BATCH && kind == GOOD; i++) k[i] = rng_next(r) % 10;
    if (kind == BAD) {
        memset(x, 0, sizeof x);
        memset(k, 0, sizeof k);
        x[5] = INFINITY;
    }
    want_ok(ctx, hd_trainer_step(ctx, t, x, k, &out));
}

/* All state, as a checkpoint has it. */
static char *state_of(hd_ctx *ctx, const hd_trainer *t, size_t *bytes) {
    char path[] = "/tmp/heddle_scale_XXXXXX";
    void *data = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    want_ok(ctx, hd_trainer_save(ctx, t, path));
    want_ok(ctx, hd_file_read(ctx, path, &data, bytes));
    unlink(path);
    return data;
}

static void want_scale(const char *device, int i, const hd_trainer *t, double scale, int skipped) {
    double is = hd_trainer_loss_scale(t);
    int64_t left_out = hd_trainer_skipped(t);
    if (is != scale || left_out != skipped)
        fail_msg("%s, step %d: scale %g and %lld left out, want %g and %d", device, i, is,
                 (long long)left_out, scale, skipped);
    assert_int_equal(hd_trainer_steps(t), i + 1);
}

/* ---- the rule ------------------------------------------------------------------------------- */

/* Begins with 4, doubles behind three good steps in a row. What each step leaves. */
static const struct {
    enum step kind;
    double scale;
} rule[] = {{GOOD, 4}, {GOOD, 4}, {GOOD, 8}, {GOOD, 8}, {BAD, 4},  {GOOD, 4}, {GOOD, 4}, {GOOD, 8},
            {BAD, 4},  {BAD, 2},  {BAD, 1},  {BAD, 1},  {GOOD, 1}, {GOOD, 1}, {GOOD, 2}, {BAD, 1}};

static void follow(hd_ctx *ctx, const char *device, int shards) {
    struct hd_train_options o = options(device, shards);
    struct rng r = {7};
    int skipped = 0;
    o.loss_scale = 4, o.scale_steps = 3;
    hd_trainer *t = opened(ctx, &o);
    if (!t) return;
    for (int i = 0; i < (int)(sizeof rule / sizeof *rule); i++) {
        size_t bytes = 0;
        char *before = state_of(ctx, t, &bytes);
        step(ctx, t, &r, rule[i].kind);
        char *after = state_of(ctx, t, &bytes);
        skipped += rule[i].kind == BAD;
        want_scale(device, i, t, rule[i].scale, skipped);
        /* weights and the optimiser's tensors, bit for bit */
        bool same = !memcmp(before + STATE, after + STATE, bytes - STATE - SCALE_BYTES);
        if (same != (rule[i].kind == BAD))
            fail_msg("%s, step %d: weights %s", device, i, same ? "stay" : "change");
        free(before), free(after);
    }
    hd_trainer_close(t);
}

static void follows_its_rule(void **state) {
    (void)state;
    everywhere(follow);
}

/* It begins with 2^16; the largest is 2^24. */
static void has_bounds(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_train_options o = options("golden", 1);
    struct rng r = {3};
    hd_trainer *t = opened(ctx, &o);
    for (int i = 0; i < 3; i++) step(ctx, t, &r, GOOD);
    want_scale("golden", 2, t, 65536, 0);
    hd_trainer_close(t);
    o.loss_scale = 1 << 23, o.scale_steps = 1;
    t = opened(ctx, &o);
    for (int i = 0; i < 3; i++) step(ctx, t, &r, GOOD);
    want_scale("golden", 2, t, 1 << 24, 0);
    hd_trainer_close(t);
    hd_ctx_destroy(ctx);
}

/* ---- steps that are left out ---------------------------------------------------------------- */

static void same_weights(const char *device, const char *a, const char *b, size_t bytes) {
    if (memcmp(a + STATE, b + STATE, bytes) != 0) fail_msg("%s: other weights", device);
}

/* With overflows, without them, and with a scale of 1 that stays: a power of two changes no
 * digit of 16 bits with the exponents of floats, and the optimiser counts what it did. */
static void as_if_never(hd_ctx *ctx, const char *device, int shards) {
    struct hd_train_options o = options(device, shards);
    char *after[3];
    size_t bytes[3];
    for (int i = 0; i < 3; i++) {
        struct rng r = {7};
        if (i == 2) o.scale_steps = 0;
        hd_trainer *t = opened(ctx, &o);
        if (!t) return;
        for (int k = 0; k < 4; k++) {
            if (!i) step(ctx, t, &r, BAD);
            step(ctx, t, &r, GOOD);
        }
        after[i] = state_of(ctx, t, &bytes[i]);
        hd_trainer_close(t);
    }
    assert_int_equal(bytes[2], bytes[0] - SCALE_BYTES);
    same_weights(device, after[0], after[1], bytes[2] - STATE);
    same_weights(device, after[0], after[2], bytes[2] - STATE);
    for (int i = 0; i < 3; i++) free(after[i]);
}

static void leaves_no_trace(void **state) {
    (void)state;
    everywhere(as_if_never);
}

/* Gradients of 16 bits overflow by themselves where it begins high; then it has found its place. */
static void finds_its_place(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    double scale[N_DEVICES] = {0};
    int64_t skipped[N_DEVICES] = {0};
    for (int i = 0; i < N_DEVICES; i++) {
        struct hd_train_options o = options(devices[i], 1);
        struct rng r = {7};
        o.precision = "f16", o.loss_scale = 1 << 24;
        hd_trainer *t = opened(ctx, &o);
        if (!t) continue;
        size_t bytes;
        char *before = state_of(ctx, t, &bytes);
        for (int k = 0; k < 16; k++) step(ctx, t, &r, GOOD);
        char *after = state_of(ctx, t, &bytes);
        scale[i] = hd_trainer_loss_scale(t), skipped[i] = hd_trainer_skipped(t);
        assert_true(skipped[i] > 4 && skipped[i] < 15 && scale[i] * (1 << skipped[i]) == 1 << 24);
        assert_true(scale[i] == scale[0] && skipped[i] == skipped[0]);
        assert_true(memcmp(before + STATE, after + STATE, bytes - STATE - SCALE_BYTES) != 0);
        for (size_t k = STATE; k < bytes; k += sizeof(float)) {
            float v;
            memcpy(&v, after + k, sizeof v);
            assert_true(isfinite(v));
        }
        free(before), free(after);
        hd_trainer_close(t);
    }
    hd_ctx_destroy(ctx);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static void go_on(hd_ctx *ctx, const char *device, int shards) {
    struct hd_train_options o = options(device, shards);
    struct rng r = {5};
    char path[] = "/tmp/heddle_scale_XXXXXX", *after[2];
    hd_trainer *t[2] = {NULL, NULL};
    size_t bytes[2];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    o.scale_steps = 3;
    for (int i = 0; i < 2; i++) t[i] = opened(ctx, &o);
    for (int i = 0; t[0] && i < 4; i++) step(ctx, t[0], &r, i == 1 ? BAD : GOOD);
    for (int i = 0; t[0] && i < 2; i++) {
        struct rng same = {9};
        if (!i) want_ok(ctx, hd_trainer_save(ctx, t[0], path));
        if (i) want_ok(ctx, hd_trainer_load(ctx, t[1], path));
        step(ctx, t[i], &same, GOOD); /* the third in a row */
        want_scale(device, 4, t[i], 65536, 1);
        step(ctx, t[i], &same, BAD);
        after[i] = state_of(ctx, t[i], &bytes[i]);
    }
    if (t[0]) {
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(after[0], after[1], bytes[0]);
        for (int i = 0; i < 2; i++) free(after[i]), hd_trainer_close(t[i]);
        o.scale_steps = 0;
        t[0] = opened(ctx, &o);
        assert_int_equal(hd_trainer_load(ctx, t[0], path), HD_INVALID);
        assert_true(hd_trainer_loss_scale(t[0]) == 1 && hd_trainer_skipped(t[0]) == 0);
        hd_trainer_close(t[0]);
    }
    unlink(path);
}

static void goes_on(void **state) {
    (void)state;
    everywhere(go_on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_its_rule), cmocka_unit_test(has_bounds),
        cmocka_unit_test(leaves_no_trace),  cmocka_unit_test(finds_its_place),
        cmocka_unit_test(goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
