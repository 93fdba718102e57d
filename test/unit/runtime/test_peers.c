/* Inputs and outputs that stay in a device's memory, and their way to another session: on golden,
 * and on device cuda with a driver and an NCCL that stand in. */
#include "test/gpu/nccl_stand_in.h"
#include "test/unit/cpu_ref/nets.h"

static const struct net first = {"x f32 2,3 -2 2", "y ? = abs(x)", "y"},
                        second = {"x f32 4,2,3 0 1", "y ? = neg(x)", "y"};
enum { N = 6, ROWS = 4 };

static void want_ok(hd_ctx *ctx, hd_status s) {
    if (s != HD_OK) fail_msg("%s", hd_message(ctx));
}

static void want_refused(hd_ctx *ctx, hd_status s, hd_status want, const char *says) {
    assert_int_equal(s, want);
    if (!strstr(hd_message(ctx), says)) fail_msg("%s", hd_message(ctx));
    hd_clear(ctx);
}

struct open { /* a network on a device */
    hd_graph *g;
    hd_model *m;
    hd_session *s;
};

static struct open open_net(hd_ctx *ctx, const struct net *n, const char *device, bool in_place) {
    struct open o = {0};
    o.m = build(ctx, n, &o.g);
    struct hd_device_options d = {.machine = o.m->machine, .in_place = in_place};
    want_ok(ctx, hd_session_open(ctx, o.m, device, &d, &o.s));
    return o;
}

static void close_net(struct open *o) {
    hd_session_close(o->s);
    hd_model_destroy(o->m);
    hd_graph_destroy(o->g);
}

static hd_status run(hd_ctx *ctx, hd_session *s, const void *x, void *y) {
    return hd_session_run(ctx, s, &x, &y);
}

static void stays(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct open o = open_net(ctx, &first, "golden", false);
    const float x[N] = {-1, 2, -3, 4, -5, 6}, zero[N] = {0};
    float y[N] = {0};
    want_ok(ctx, run(ctx, o.s, x, HD_ON_DEVICE));
    want_ok(ctx, hd_session_value(ctx, o.s, o.m->outputs[0], y));
    for (int i = 0; i < N; i++) assert_true(y[i] == fabsf(x[i]));
    want_ok(ctx, run(ctx, o.s, zero, HD_ON_DEVICE));
    memset(y, 1, sizeof y);
    want_ok(ctx, run(ctx, o.s, HD_ON_DEVICE, y));
    assert_memory_equal(y, zero, sizeof y);
    close_net(&o);
    hd_ctx_destroy(ctx);
}

static void refusals(void **state) {
    (void)state;
    static const char says[] = "keeps no inputs and outputs from run to run";
    hd_ctx *ctx = hd_ctx_create();
    float x[N] = {0}, y[N];
    char id[HD_PEERS_ID];
    struct open o = open_net(ctx, &first, "golden", false);
    want_refused(ctx, hd_session_peers_id(ctx, o.s, id), HD_UNSUPPORTED,
                 "device golden has no way");
    want_refused(ctx, hd_session_join(ctx, o.s, id, 0, 1), HD_UNSUPPORTED, "want cuda alone");
    want_refused(ctx, hd_session_gather(ctx, o.s, o.s, NULL, 0), HD_UNSUPPORTED, "no way");
    want_ok(ctx, hd_session_queue(ctx, o.s, 2));
    want_refused(ctx, run(ctx, o.s, HD_ON_DEVICE, y), HD_UNSUPPORTED, says);
    close_net(&o);
    o = open_net(ctx, &first, "cpu", true);
    want_refused(ctx, run(ctx, o.s, HD_ON_DEVICE, y), HD_UNSUPPORTED, says);
    want_refused(ctx, run(ctx, o.s, x, HD_ON_DEVICE), HD_UNSUPPORTED, says);
    close_net(&o);
    assert_non_null(hd_peers_why_not(ctx, "golden"));
    assert_non_null(hd_peers_why_not(ctx, "toaster"));
    assert_null(hd_peers_why_not(ctx, "cuda"));
    hd_ctx_destroy(ctx);
}

/* A group of one: its outputs go to a row of the other session's input. */
static void gathers(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    struct open a = open_net(ctx, &first, "cuda", true), b = open_net(ctx, &second, "cuda", true);
    struct open c = open_net(ctx, &first, "golden", false);
    const float x[N] = {-1, 2, -3, 4, -5, 6}, zero[ROWS * N] = {0};
    float y[ROWS * N];
    char id[HD_PEERS_ID];
    struct hd_session_move move = {.output = 0, .input = 0, .at = 2 * sizeof x};
    want_ok(ctx, hd_session_peers_id(ctx, b.s, id));
    want_ok(ctx, hd_session_join(ctx, b.s, id, 0, 1));
    want_ok(ctx, run(ctx, b.s, zero, y));
    want_ok(ctx, run(ctx, a.s, x, HD_ON_DEVICE));
    want_ok(ctx, hd_session_gather(ctx, b.s, a.s, &move, 1));
    want_ok(ctx, run(ctx, b.s, HD_ON_DEVICE, y));
    for (int i = 0; i < ROWS * N; i++) assert_true(y[i] == (i / N == 2 ? -fabsf(x[i % N]) : 0));
    move.at = 4 * sizeof x;
    want_refused(ctx, hd_session_gather(ctx, b.s, a.s, &move, 1), HD_INVALID, "which has 96");
    move.output = 1;
    want_refused(ctx, hd_session_gather(ctx, b.s, a.s, &move, 1), HD_INVALID, "output 1 of net");
    move.output = 0, move.input = -1;
    want_refused(ctx, hd_session_gather(ctx, b.s, a.s, &move, 1), HD_INVALID, "to input -1");
    want_refused(ctx, hd_session_gather(ctx, b.s, c.s, &move, 1), HD_UNSUPPORTED, "no way");
    close_net(&a), close_net(&b), close_net(&c);
    assert_null(emu.wrong);
    assert_int_equal(emu.live + nccl_seen.live, 0);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stays), cmocka_unit_test(refusals),
                                       cmocka_unit_test(gathers)};
    char cache[] = "/tmp/hd_peers_XXXXXX", command[64];
    if (!mkdtemp(cache)) return 1;
    setenv("XDG_CACHE_HOME", cache, 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    emu_clean();
    snprintf(command, sizeof command, "rm -r %s", cache);
    return failed || system(command) != 0;
}
