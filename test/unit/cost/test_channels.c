/* The channels of DRAM: when loads and stores are done, counted by hand on a bus of 8 bytes. */
#include "compiler/cost/channels.h"
#include "test/unit/cost/operations.h"

enum { LATENCY = 64, OPS = 4 };

struct channels {
    struct list l;
    struct hd_channels c;
    double done[HD_UNITS][OPS];
};

static void make(struct channels *x) {
    *x = (struct channels){.c.latency = LATENCY, .c.reads.accepted = -1};
    make_list(&x->l, "tiny", LATENCY);
    for (int u = 0; u < HD_UNITS; u++) x->c.done[u] = x->done[u];
}

static void begin_load(struct channels *x, int k, const struct hd_slot_op *op, double start) {
    struct hd_walk w;
    hd_walk_begin(&x->l.m, op, &w);
    hd_channels_load(&x->c, HD_UNIT_lx, k, &w, start);
}

/* All that loads ask for; returns how many bursts. */
static int ask_all(struct channels *x) {
    double at;
    int u, n = 0;
    for (; (u = hd_channels_asker(&x->c, &at)) >= 0; n++) hd_channels_next(&x->c, u, at);
    return n;
}

/* Asked for in cycle 6, the first of 16 beats in 71; LX is done a cycle behind the last. */
static void one_burst(void **state) {
    (void)state;
    struct channels x;
    make(&x);
    begin_load(&x, 0, load(&x.l, 0, 0, 128, 1, 128), 0);
    assert_int_equal(ask_all(&x), 1);
    assert_int_equal((int)x.done[HD_UNIT_lx][0], 4 + 2 + LATENCY + 1 + 16 + 1);
    drop_list(&x.l);
}

/* Data of the second load come right behind those of the first. */
static void loads_overlap(void **state) {
    (void)state;
    struct channels x;
    make(&x);
    begin_load(&x, 0, load(&x.l, 0, 0, 128, 1, 128), 0);
    begin_load(&x, 1, load(&x.l, 4096, 1024, 80, 1, 80), 3);
    assert_int_equal(ask_all(&x), 2);
    assert_int_equal((int)(x.done[HD_UNIT_lx][1] - x.done[HD_UNIT_lx][0]), 10);
    drop_list(&x.l);
}

/* 24 runs of 8 bytes, each a burst of one beat: 16 are open, the others wait for a latency. */
static void sixteen_are_open(void **state) {
    (void)state;
    struct channels x;
    make(&x);
    begin_load(&x, 0, load(&x.l, 0, 0, 8, 24, 64), 0);
    assert_int_equal(ask_all(&x), 24);
    /* the first beat is there in 72; one more is asked for 2 cycles later, and 7 behind that */
    assert_int_equal((int)x.done[HD_UNIT_lx][0], 72 + 2 + LATENCY + 1 + 1 + 7 + 1);
    drop_list(&x.l);
}

/* MX writes the bank in half of the cycles 100 to 200. */
static void writers_come_first(void **state) {
    (void)state;
    const struct hd_writer w = {100, 200, .5, 2};
    assert_true(hd_channels_wait(&w, 4, 100, 150) == 0);  /* another bank */
    assert_true(hd_channels_wait(&w, 2, 40, 100) == 0);   /* before it begins */
    assert_true(hd_channels_wait(&w, 2, 200, 260) == 0);  /* behind its end */
    assert_true(hd_channels_wait(&w, 2, 100, 120) == 20); /* 20 chunks in 40 cycles */
    assert_true(hd_channels_wait(&w, 2, 90, 120) == 20);
    assert_true(hd_channels_wait(&w, 2, 100, 300) == 50); /* all that it writes */
    assert_true(hd_channels_wait(&w, 6, 100, 190) == 25); /* half of the load is elsewhere */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_burst), cmocka_unit_test(loads_overlap),
                                       cmocka_unit_test(sixteen_are_open),
                                       cmocka_unit_test(writers_come_first)};
    return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
