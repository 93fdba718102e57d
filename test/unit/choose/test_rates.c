/* The model of times that heddle choose has: rates come back from runs that they made, a network
 * can be left out, and the work of a graph is counted by kinds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/choose/choose.h"
#include "test/rng.h"

enum { RUNS = 40 };

enum fact {
#define FACT(name, ...) FACT_##name,
#include "compiler/choose/facts.def"
};

/* Runs of a machine that needs 1 us to start, 2 ns a product and 0.5 ns an element. */
static void make(hd_arena *a, struct hd_run_row *rows, uint64_t seed) {
    struct rng r = {seed};
    for (int i = 0; i < RUNS; i++) {
        double facts[HD_FACTS] = {0};
        facts[FACT_starts] = 1;
        facts[FACT_conv] = (double)rng_range(&r, 0, 1000000);
        facts[FACT_simple] = (double)rng_range(&r, 1000, 2000000);
        rows[i] = (struct hd_run_row){.network = i % 4 ? "seen" : "unseen",
                                      .kind = "cpu",
                                      .variant = "batch=1",
                                      .facts = hd_facts_text(a, facts),
                                      .samples = 1,
                                      .seconds = 1e-6 + 2e-9 * facts[FACT_conv] +
                                                 0.5e-9 * facts[FACT_simple]};
    }
}

static void rates_come_back(void **state) {
    hd_arena *a = hd_arena_create();
    struct hd_run_row rows[RUNS + 1];
    (void)state;
    make(a, rows, 1);
    struct hd_rates f = hd_rates_fit(rows, RUNS, "cpu", NULL);
    assert_int_equal(f.rows, RUNS);
    assert_true(f.error < 1.01);
    assert_true(fabs(f.rate[FACT_conv] / 2e-9 - 1) < 0.02);
    assert_true(fabs(f.rate[FACT_simple] / 0.5e-9 - 1) < 0.02);
    for (int i = 0; i < HD_FACTS; i++) assert_true(f.rate[i] >= 0);
    assert_true(f.rate[FACT_machine] == 0); /* no run has any */
    double slow[HD_FACTS] = {[FACT_slow_products] = 1e6};
    rows[RUNS] = rows[0];
    rows[RUNS].kind = "other";
    rows[RUNS].facts = hd_facts_text(a, slow);
    rows[RUNS].seconds = 3e-3;
    struct hd_rates g = hd_rates_fit(rows, RUNS + 1, "cpu", NULL);
    assert_true(g.rate[FACT_conv] == f.rate[FACT_conv]); /* other kinds do not count .. */
    assert_true(f.rate[FACT_slow_products] == 0 &&       /* .. but where nothing else is known */
                fabs(g.rate[FACT_slow_products] / 3e-9 - 1) < 0.02);
    assert_int_equal(hd_rates_fit(rows, RUNS, "none", NULL).rows, 0);
    hd_arena_destroy(a);
}

static void left_out(void **state) {
    hd_arena *a = hd_arena_create();
    struct hd_run_row rows[RUNS];
    (void)state;
    make(a, rows, 2);
    for (int i = 0; i < RUNS; i++)
        if (i % 4 == 0) rows[i].seconds *= 100; /* all that was seen of it is wrong */
    struct hd_rates f = hd_rates_fit(rows, RUNS, "cpu", "unseen");
    assert_int_equal(f.rows, RUNS * 3 / 4);
    assert_true(f.error < 1.01);
    assert_true(hd_rates_fit(rows, RUNS, "cpu", NULL).error > 1.5);
    hd_arena_destroy(a);
}

/* What was measured of a family moves the rest of it, and what cannot be the best is not measured.
 */
static void measured_ways(void **state) {
    struct hd_expected of[] = {{"cpu float", 1.0, 1.2, 0},
                               {"cpu float", 1.1, 1.2, 0},
                               {"iss int8", 1.5, 1.01, 0},
                               {"cpu int8", INFINITY, 1, 0}};
    (void)state;
    assert_int_equal(hd_next_to_measure(of, 4), 0);
    of[0].measured = 2.0; /* twice as slow as expected, so will be the other one */
    assert_true(fabs(hd_expected_seconds(of, 4, 1) - 2.2) < 1e-9);
    assert_true(hd_expected_seconds(of, 4, 0) == 2.0 && hd_expected_seconds(of, 4, 2) == 1.5);
    assert_true(isinf(hd_expected_seconds(of, 4, 3)));
    assert_int_equal(hd_next_to_measure(of, 4), 2);
    of[2].measured = 1.52; /* 2.2 / 1.2^2 is 1.528 */
    assert_int_equal(hd_next_to_measure(of, 4), -1);
    of[3] = (struct hd_expected){"cpu int8", 2.8, 1.25, 0}; /* by 1.25^3 it is 1.43 */
    assert_int_equal(hd_next_to_measure(of, 4), 3);
    of[3].model = INFINITY;
    of[2].measured = 1.54;
    assert_int_equal(hd_next_to_measure(of, 4), 1);
}

static void texts_are_read(void **state) {
    hd_arena *a = hd_arena_create();
    double facts[HD_FACTS], back[HD_FACTS];
    (void)state;
    for (int i = 0; i < HD_FACTS; i++) facts[i] = i * 1.25e6;
    assert_true(hd_facts_read(hd_facts_text(a, facts), back));
    assert_memory_equal(facts, back, sizeof facts);
    assert_false(hd_facts_read("1 2 3", back)); /* of another version */
    assert_false(hd_facts_read(hd_sprintf(a, "%s 7", hd_facts_text(a, facts)), back));
    hd_arena_destroy(a);
}

static void work_is_counted(void **state) {
    static const char text[] = "graph g {\n"
                               "  input x f32[1,4,8,8]\n"
                               "  const w f32[4,1,1,1] = {1,1,1,1}\n"
                               "  const v f32[2,4,1,1] = {1,1,1,1,1,1,1,1}\n"
                               "  a f32[1,4,8,8] = conv(x, w) kernel_shape=[1,1] group=4\n"
                               "  b f32[1,2,8,8] = conv(a, v) kernel_shape=[1,1]\n"
                               "  c f32[1,2,8,8] = relu(b)\n"
                               "  d f32[1,2,4,4] = maxpool(c) kernel_shape=[2,2] strides=[2,2]\n"
                               "  output d\n}\n";
    const struct hd_compile_options host = {.machine = hd_machines[0], .host_only = true};
    const struct hd_device_options o = {.machine = hd_machines[0]};
    hd_ctx *ctx = hd_ctx_create();
    hd_graph *g;
    hd_model *m;
    hd_session *session;
    double facts[HD_FACTS];
    (void)state;
    if (hd_graph_parse(ctx, text, "test", &g) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
    if (hd_compile_graph(ctx, g, &host, &m) != HD_OK) fail_msg("%s", hd_message(ctx));
    if (hd_session_open(ctx, m, "cpu", &o, &session) != HD_OK) fail_msg("%s", hd_message(ctx));
    assert_int_equal(hd_facts_of(ctx, m, session, facts), HD_OK);
    hd_session_close(session);
    assert_true(facts[FACT_starts] == 1 && facts[FACT_steps] >= 2);
    assert_true(facts[FACT_grouped] == 4 * 64 && facts[FACT_conv] == 2 * 64 * 4);
    assert_true(facts[FACT_constants] == 4 * (4 + 8));
    assert_true(facts[FACT_simple] == 2 * 2 * 64); /* relu reads and writes */
    assert_true(facts[FACT_windows] == 4 * 2 * 16);
    assert_true(facts[FACT_operands] == 64 * (4 + 4 + 4 + 2));
    assert_true(facts[FACT_slow_products] == 0);
    struct hd_step step = {.nodes = (int[]){0, 1}, .n_nodes = 2, .estimate = 5000};
    struct hd_step *steps = m->steps;
    int n_steps = m->n_steps;
    m->steps = &step;
    m->n_steps = 1;
    assert_int_equal(hd_facts_of(ctx, m, NULL, facts), HD_OK); /* of a machine */
    assert_true(facts[FACT_starts] == 1 && facts[FACT_conv] == 0);
    assert_true(facts[FACT_slow_products] == 4 * 64 + 2 * 64 * 4);
    assert_true(fabs(facts[FACT_machine] - 5e-3 / hd_machines[0].clock_mhz) < 1e-12);
    m->steps = steps;
    m->n_steps = n_steps;
    hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_come_back), cmocka_unit_test(left_out),
        cmocka_unit_test(measured_ways),   cmocka_unit_test(texts_are_read),
        cmocka_unit_test(work_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
