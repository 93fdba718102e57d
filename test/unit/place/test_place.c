/* Placing a network on several devices: the search against every placement of small networks, and
 * what a placement must not cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/place/place.h"
#include "test/rng.h"

static const char *const names[] = {"golden", "opencl", "cuda"};

struct net {
    hd_ctx *ctx;
    hd_graph *g;
    struct hd_device_list list;
    struct hd_placing p;
    int order[16];
};

static void begin(struct net *x, const char *text, int n_devices) {
    *x = (struct net){.ctx = hd_ctx_create()};
    if (hd_graph_parse(x->ctx, text, "test", &x->g) != HD_OK) fail_msg("%s", hd_message(x->ctx));
    x->list = (struct hd_device_list){.name = names, .n = n_devices, .machine = -1};
    x->p = (struct hd_placing){.a = hd_arena_create(), .g = x->g, .list = &x->list};
    x->p.n_order = hd_graph_order(x->g, x->order);
    x->p.order = x->order;
    hd_place_prices(&x->p);
}

static void end(struct net *x) {
    hd_arena_destroy(x->p.a);
    hd_graph_destroy(x->g);
    hd_ctx_destroy(x->ctx);
}

/* Products and sums in a graph of random edges, among large tensors and among small ones. */
static void random_text(char *text, size_t room, uint64_t seed, int n) {
    struct rng r = {seed};
    int side[2] = {8, 1 << rng_range(&r, 4, 8)}, made[2][16] = {{0}}, n_made[2] = {1, 1}, k = 0;
    size_t at = (size_t)snprintf(text, room, "graph g {\n");
    for (int i = 0; i < 2; i++)
        at += (size_t)snprintf(text + at, room - at, "  input t%d_0 f32[%d,%d]\n", i, side[i],
                               side[i]);
    for (int i = 1; i <= n; i++) {
        k = (int)rng_range(&r, 0, 1);
        int a = made[k][rng_range(&r, 0, n_made[k] - 1)];
        int b = made[k][rng_range(&r, 0, n_made[k] - 1)];
        at +=
            (size_t)snprintf(text + at, room - at, "  t%d_%d f32[%d,%d] = %s(t%d_%d, t%d_%d)\n", k,
                             i, side[k], side[k], rng_next(&r) % 2 ? "matmul" : "add", k, a, k, b);
        made[k][n_made[k]++] = i;
    }
    snprintf(text + at, room - at, "  output t%d_%d\n}\n", k, n);
}

static void no_placement_is_cheaper(void **state) {
    enum { NODES = 6 };
    (void)state;
    int best = 0, mixed = 0, count = 60;
    for (int seed = 1; seed <= count; seed++) {
        char text[2048];
        struct net x;
        int devices = 2 + seed % 2, on[NODES + 1] = {0};
        random_text(text, sizeof text, (uint64_t)seed, NODES);
        begin(&x, text, devices);
        const int *found = hd_place_devices(&x.p);
        double got = hd_place_cost(&x.p, found), least = got;
        for (size_t i = 1; i < x.p.n_order; i++) mixed += found[i] != found[i - 1];
        for (bool more = true; more;) {
            double cost = hd_place_cost(&x.p, on);
            least = cost < least ? cost : least;
            more = false;
            for (int i = 0; i < NODES && !more; i++) {
                on[i] = (on[i] + 1) % devices;
                more = on[i] != 0;
            }
        }
        best += got <= least * (1 + 1e-9);
        if (got > 1.05 * least) fail_msg("seed %d: found %.0f ns, least %.0f ns", seed, got, least);
        end(&x);
    }
    assert_true(best >= count - 3);
    assert_true(mixed > 10); /* several devices share some of them */
}

/* A chain whose middle is cheaper elsewhere: it goes there where that pays for the way. */
static void work_pays_for_the_way(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        char text[512];
        struct net x;
        int side = big ? 512 : 8;
        snprintf(text, sizeof text,
                 "graph g {\n  input x f32[%d,%d]\n  y f32[%d,%d] = matmul(x, x)\n"
                 "  output y\n}\n",
                 side, side, side, side);
        begin(&x, text, 3);
        const int *on = hd_place_devices(&x.p);
        assert_string_equal(names[on[0]], big ? "cuda" : "golden");
        assert_true(strstr(hd_place_why(&x.p, x.order, 1, x.p.a), "opencl ") != NULL);
        end(&x);
    }
}

/* Three layers and their gradients on two devices alike: nothing is gained for one run; in a
 * pipeline they share the work, as the best of all placements does. */
static void pipelines_share_work(void **state) {
    enum { NODES = 6 };
    static const char *const alike[] = {"cpu", "cpu"};
    struct net x;
    int on[NODES] = {0};
    (void)state;
    begin(&x,
          "graph g {\n  input x f32[256,256]\n  input w f32[256,256]\n"
          "  a f32[256,256] = matmul(x, w)\n  b f32[256,256] = matmul(a, w)\n"
          "  c f32[256,256] = matmul(b, w)\n  dc f32[256,256] = matmul(c, c)\n"
          "  db f32[256,256] = matmul(dc, b)\n  da f32[256,256] = matmul(db, a)\n  output da\n}\n",
          2);
    x.list.name = alike;
    hd_place_prices(&x.p);
    const int *found = hd_place_devices(&x.p);
    for (int i = 1; i < NODES; i++) assert_int_equal(found[i], found[0]);
    x.list.pipeline = true;
    double one = hd_place_cost(&x.p, on), least = one;
    for (int set = 0; set < 1 << NODES; set++) {
        for (int i = 0; i < NODES; i++) on[i] = set >> i & 1;
        double cost = hd_place_cost(&x.p, on);
        least = cost < least ? cost : least;
    }
    double got = hd_place_cost(&x.p, hd_place_devices(&x.p));
    if (got > 1.05 * least || got > 0.75 * one)
        fail_msg("found %.0f ns, least %.0f ns, one device %.0f ns", got, least, one);
    end(&x);
}

/* Reading an operand twice moves it once; going to and fro costs a start each time. */
static void ways_are_counted_once(void **state) {
    (void)state;
    struct net x;
    begin(&x,
          "graph g {\n  input x f32[100]\n  a f32[100] = relu(x)\n  b f32[100] = add(a, a)\n"
          "  c f32[100] = relu(b)\n  output c\n}\n",
          2);
    const int same[] = {0, 0, 0}, middle[] = {0, 1, 0}, last[] = {0, 0, 1};
    double all = hd_place_cost(&x.p, same);
    double m = hd_place_cost(&x.p, middle) - all;
    double l = hd_place_cost(&x.p, last) - all;
    /* the middle: opencl's work, its start, golden's second start, 400 bytes out of golden, into
     * opencl and back; rates.def */
    double work = (40000 + 1500 * 0.3) - (500 + 5000 * 0.3);
    assert_true(m > work + 50000 + 1000 + 2 * 0.4 * 750 - 1);
    assert_true(m < work + 50000 + 1000 + 2 * 0.4 * 750 + 1);
    work = (40000 + 1500 * 0.2) - (500 + 5000 * 0.2);
    assert_true(l > work + 50000 + 0.4 * 750 + 0.4 * 250 - 1);
    assert_true(l < work + 50000 + 0.4 * 750 + 0.4 * 250 + 1);
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_placement_is_cheaper), cmocka_unit_test(work_pays_for_the_way),
        cmocka_unit_test(ways_are_counted_once), cmocka_unit_test(pipelines_share_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
