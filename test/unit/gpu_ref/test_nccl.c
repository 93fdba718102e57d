/* Device cuda among those of other processes, on a driver and an NCCL that stand in: what goes
 * where, lifetimes, each call failing in turn, refusals, which GPU a process takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu_ref/gpu.h"
#include "runtime/device/hal.h"
#include "test/gpu/nccl_stand_in.h"

enum { RANKS = 4, ME = 2, MOVES = 3 };
static const size_t sizes[MOVES] = {40, 4, 1000};

/* What process r has at byte k of buffer i. */
static unsigned char value(int r, int i, size_t k) {
    return (unsigned char)(r * 71 + i * 29 + (int)k * 3);
}

static int told; /* of the buffers that are swapped */
static int others(int with, const void *out, void *in, size_t bytes) {
    int i = told++ / (RANKS - 1);
    assert_int_equal(bytes, sizes[i]);
    for (size_t k = 0; k < bytes; k++) {
        assert_int_equal(((const unsigned char *)out)[k], value(ME, i, k));
        ((unsigned char *)in)[k] = value(with, i, k);
    }
    return 0;
}

struct world {
    hd_ctx *ctx;
    const struct hd_device_ops *ops;
    hd_device *to, *from; /* NULL = not open */
    struct hd_peers_move move[MOVES];
};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    w->ctx = hd_ctx_create();
    w->ops = hd_device_by_scheme("cuda");
    nccl_seen.swap = others;
    nccl_seen.calls = nccl_seen.fail_at = emu.calls = emu.fail_at = told = 0;
    *state = w;
    return 0;
}

static void close_all(struct world *w) {
    if (w->from) w->ops->close(w->from);
    if (w->to) w->ops->close(w->to);
    w->from = w->to = NULL;
}

static int teardown(void **state) {
    struct world *w = *state;
    close_all(w);
    assert_int_equal(nccl_seen.live, 0);
    assert_int_equal(emu.live, 0);
    assert_null(emu.wrong);
    hd_ctx_destroy(w->ctx);
    free(w);
    return 0;
}

/* Row 1 of 3, each of which has room for all. */
static hd_status open_all(struct world *w) {
    const struct hd_device_options o = {.name = "cuda"};
    TRY(w->ops->open(w->ctx, &o, &w->to));
    TRY(w->ops->open(w->ctx, &o, &w->from));
    for (int i = 0; i < MOVES; i++) {
        unsigned char data[1000];
        struct hd_peers_move *m = &w->move[i];
        *m = (struct hd_peers_move){.at = RANKS * sizes[i], .bytes = sizes[i]};
        for (size_t k = 0; k < sizes[i]; k++) data[k] = value(ME, i, k);
        TRY(w->ops->alloc(w->ctx, w->from, sizes[i], &m->from));
        TRY(w->ops->alloc(w->ctx, w->to, 3 * RANKS * sizes[i], &m->to));
        TRY(w->ops->write(w->ctx, w->from, m->from, 0, data, sizes[i]));
    }
    return HD_OK;
}

static hd_status join(struct world *w) {
    char id[HD_PEERS_ID];
    TRY(w->ops->peers->id(w->ctx, id));
    return w->ops->peers->join(w->ctx, w->to, id, ME, RANKS);
}

static hd_status whole_life(struct world *w) {
    told = 0;
    hd_status s = open_all(w);
    if (s == HD_OK) s = join(w);
    if (s == HD_OK) s = w->ops->peers->gather(w->ctx, w->to, w->from, w->move, MOVES);
    return s;
}

static void moves(void **state) {
    struct world *w = *state;
    static const unsigned char zero[RANKS * 1000];
    unsigned char got[3 * RANKS * 1000];
    int groups = nccl_seen.groups, gathers = nccl_seen.gathers;
    assert_int_equal(open_all(w), HD_OK);
    for (int i = 0; i < MOVES; i++)
        for (int row = 0; row < 3; row++)
            assert_int_equal(w->ops->write(w->ctx, w->to, w->move[i].to,
                                           (size_t)row * RANKS * sizes[i], zero, RANKS * sizes[i]),
                             HD_OK);
    assert_null(w->ops->peers->why_not());
    assert_int_equal(join(w), HD_OK);
    assert_int_equal(w->ops->peers->gather(w->ctx, w->to, w->from, w->move, MOVES), HD_OK);
    assert_int_equal(nccl_seen.groups - groups, 1);
    assert_int_equal(nccl_seen.gathers - gathers, MOVES);
    assert_int_equal(told, MOVES * (RANKS - 1));
    for (int i = 0; i < MOVES; i++) {
        size_t row = RANKS * sizes[i];
        assert_int_equal(w->ops->read(w->ctx, w->to, w->move[i].to, 0, got, 3 * row), HD_OK);
        assert_memory_equal(got, zero, row);
        assert_memory_equal(got + 2 * row, zero, row);
        for (int r = 0; r < RANKS; r++)
            for (size_t k = 0; k < sizes[i]; k++)
                assert_int_equal(got[row + (size_t)r * sizes[i] + k], value(r, i, k));
    }
}

/* A move of nothing is none: NCCL refuses it. */
static void nothing(void **state) {
    struct world *w = *state;
    assert_int_equal(open_all(w), HD_OK);
    assert_int_equal(join(w), HD_OK);
    int gathers = nccl_seen.gathers;
    w->move[0].bytes = 0;
    nccl_seen.swap = NULL;
    assert_int_equal(w->ops->peers->gather(w->ctx, w->to, w->from, w->move, 1), HD_OK);
    assert_int_equal(nccl_seen.gathers, gathers);
}

static void any_call_may_fail(void **state) {
    struct world *w = *state;
    assert_int_equal(whole_life(w), HD_OK);
    int calls = nccl_seen.calls, cuda_calls = emu.calls;
    assert_int_equal(calls, 2 + 1 + MOVES + 1);
    close_all(w);
    for (int at = 1; at <= calls; at++) {
        int aborted = nccl_seen.aborted;
        nccl_seen.calls = 0, nccl_seen.fail_at = at;
        assert_int_equal(whole_life(w), HD_DEVICE);
        assert_non_null(strstr(hd_message(w->ctx), "cuda: nccl"));
        assert_non_null(strstr(hd_message(w->ctx), "status 2 (unhandled system error)"));
        assert_false(nccl_seen.in_group);
        close_all(w);
        assert_int_equal(nccl_seen.aborted - aborted, at > 3); /* a group was broken */
        assert_int_equal(nccl_seen.live, 0);
        hd_clear(w->ctx);
    }
    nccl_seen.fail_at = 0;
    for (int at = 1; at <= cuda_calls; at++) {
        emu.calls = 0, emu.fail_at = at, emu.fail_with = 2;
        assert_int_equal(whole_life(w), HD_NOMEM);
        close_all(w);
        assert_int_equal(nccl_seen.live, 0);
        assert_int_equal(emu.live, 0);
        hd_clear(w->ctx);
    }
    emu.fail_at = 0;
}

static void refuses(struct world *w, const char *says) {
    assert_int_equal(w->ops->peers->gather(w->ctx, w->to, w->from, w->move, MOVES), HD_INVALID);
    if (!strstr(hd_message(w->ctx), says)) fail_msg("%s", hd_message(w->ctx));
    hd_clear(w->ctx);
}

static void refusals(void **state) {
    struct world *w = *state;
    assert_int_equal(open_all(w), HD_OK);
    refuses(w, "has not joined");
    assert_int_equal(join(w), HD_OK);
    assert_int_equal(join(w), HD_INVALID);
    assert_non_null(strstr(hd_message(w->ctx), "has joined others already"));
    hd_clear(w->ctx);
    w->move[1].at = 2 * RANKS * sizes[1] + 1; /* the last of all is outside */
    refuses(w, "16 bytes at 33 of buffer 2, which has 48");
    w->move[1].at = 0, w->move[1].bytes = sizes[1] + 1;
    refuses(w, "5 bytes at 0 of buffer 2, which has 4");
    w->move[1].bytes = sizes[1], w->move[1].from.id = 9;
    refuses(w, "there is no buffer 9");
    assert_int_equal(told, 0);
}

static void left_out(void **state) {
    struct world *w = *state;
    setenv("HEDDLE_CUDA_LIBRARIES", "none", 1);
    assert_string_equal(w->ops->peers->why_not(), "HEDDLE_CUDA_LIBRARIES leaves it out");
    unsetenv("HEDDLE_CUDA_LIBRARIES");
    assert_null(hd_device_by_scheme("opencl")->peers);
    assert_null(hd_device_by_scheme("cpu")->peers);
}

/* Processes of one computer take its GPUs in turn. */
static void one_gpu_each(void **state) {
    struct world *w = *state;
    const struct hd_device_options o = {.name = "cuda"};
    static const struct {
        const char *local;
        int devices, want;
    } row[] = {{NULL, 4, 0}, {"0", 4, 0}, {"3", 4, 3}, {"5", 4, 1}, {"1", 1, 0}, {"-2", 4, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        emu.devices = row[i].devices, emu.ordinal = -1;
        if (row[i].local) setenv("OMPI_COMM_WORLD_LOCAL_RANK", row[i].local, 1);
        assert_int_equal(w->ops->open(w->ctx, &o, &w->to), HD_OK);
        assert_int_equal(emu.ordinal, row[i].want);
        close_all(w);
    }
    unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
    emu.devices = 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moves, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(any_call_may_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(one_gpu_each, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
