/* The estimate of short lists of operations: what adds up, what goes side by side. */
#include "test/unit/cost/operations.h"

static void one_iteration_a_cycle(void **state) {
    (void)state;
    int64_t took[2];
    for (int i = 0; i < 2; i++) {
        struct list l;
        make_list(&l, "tiny", 64);
        gemm(&l, 0, 100 + 400 * i, 0);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    assert_int_equal(took[1] - took[0], 400);
}

/* A beat a cycle; the first comes after the latency of memory. */
static void one_beat_a_cycle(void **state) {
    (void)state;
    int64_t took[3];
    for (int i = 0; i < 3; i++) {
        struct list l;
        make_list(&l, "tiny", i == 2 ? 164 : 64);
        load(&l, 0, 0, i == 1 ? 2048 : 1024, 1, 2048);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    assert_int_equal(took[1] - took[0], 1024 / 8);
    assert_int_equal(took[2] - took[0], 2 * 100); /* of the program's first words, then of data */
}

static void store(struct list *l, int64_t run, int64_t n) {
    begin(l, HD_OP_st_store);
    hd_ops_set(&l->s, HD_F_st_seg, 1), hd_ops_set(&l->s, HD_F_st_run, run);
    hd_ops_set(&l->s, HD_F_st_n1, n), hd_ops_set(&l->s, HD_F_st_n2, 1);
    hd_ops_set(&l->s, HD_F_st_n3, 1);
    hd_ops_set(&l->s, HD_F_st_d1, 2 * run), hd_ops_set(&l->s, HD_F_st_s1, run);
    end(l);
}

/* Of a store of 40 bursts 16 are open: the third round of them begins when memory has answered two.
 */
static void a_store_waits_for_answers(void **state) {
    (void)state;
    int64_t took[2];
    for (int i = 0; i < 2; i++) {
        struct list l;
        make_list(&l, "tiny", 64 + 100 * (uint32_t)i);
        store(&l, 8, 40);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    assert_int_equal(took[1] - took[0], 100 + 3 * 100); /* of the program's first words, too */
}

/* Behind a store of many runs the unit takes two more. A queue has 16, and one is in front of it;
 * so of 20 stores the last one, and a load behind it, are issued when the addresses are sent. */
static void stores_wait_in_the_queue(void **state) {
    (void)state;
    enum { RUNS = 400, LONG = 1 << 14 };
    int64_t took[2];
    for (int i = 0; i < 2; i++) {
        struct list l;
        make_list(&l, "tiny", 64);
        store(&l, 8, RUNS);
        for (int k = 0; k < (i ? 20 : 12); k++) store(&l, 8, 1);
        load(&l, 0, 0, LONG, 1, LONG);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    assert_in_range(took[0], LONG / 8, LONG / 8 + 400);
    assert_in_range(took[1], LONG / 8 + 4 * RUNS, LONG / 8 + 6 * RUNS);
}

/* LX keeps records of 32 runs behind the one that it writes. Data are asked for at once behind so
 * many runs of padding, and one run later where there is one more. */
static void a_load_asks_behind_padding(void **state) {
    (void)state;
    enum { CHUNKS = 100, LATENCY = 8000 };
    int64_t took[3];
    for (int i = 0; i < 3; i++) {
        struct list l;
        make_list(&l, "tiny", LATENCY);
        begin(&l, HD_OP_lx_load);
        hd_ops_set(&l.s, HD_F_lx_seg, 1), hd_ops_set(&l.s, HD_F_lx_edge, 1);
        hd_ops_set(&l.s, HD_F_lx_run, 8 * CHUNKS), hd_ops_set(&l.s, HD_F_lx_rows, 0);
        hd_ops_set(&l.s, HD_F_lx_n1, HD_N_load_records - 1 + i), hd_ops_set(&l.s, HD_F_lx_n2, 1);
        hd_ops_set(&l.s, HD_F_lx_n3, 1);
        end(&l);
        load(&l, 0, 0, 8, 1, 8);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    assert_in_range(took[1] - took[0], 0, 2);
    assert_in_range(took[2] - took[1], CHUNKS - 40, CHUNKS + 2);
}

/* A product beside a load takes no longer than the longer of both; behind it, the sum. */
static void only_what_depends_waits(void **state) {
    (void)state;
    enum { ITERATIONS = 500 };
    int64_t alone, beside, behind;
    struct list l;
    make_list(&l, "tiny", 64);
    load(&l, 0, 0, 2048, 1, 2048);
    alone = cycles(&l);
    gemm(&l, l.m.xm_bytes / 2, ITERATIONS, 0); /* of another half of XM */
    beside = cycles(&l);
    assert_int_equal(l.s.ops[1].wait, 0);
    drop_list(&l);
    make_list(&l, "tiny", 64);
    load(&l, 0, 0, 2048, 1, 2048);
    gemm(&l, 0, ITERATIONS, 0);
    behind = cycles(&l);
    assert_int_not_equal(l.s.ops[1].wait, 0);
    assert_int_equal(l.s.ops[1].after[HD_UNIT_lx], 1);
    drop_list(&l);
    assert_true(beside < alone + ITERATIONS);
    assert_in_range(behind, alone + ITERATIONS - 20, alone + ITERATIONS + 40);
}

/* VX writes so many words of a bank, beside LX; of zeros, or of what is at the start of XM. */
static void fill_bank(struct list *l, int vectors, int bank, int a_kind) {
    begin(l, HD_OP_vx_map);
    hd_ops_set(&l->s, HD_F_vx_a_kind, a_kind);
    hd_ops_set(&l->s, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_ops_set(&l->s, HD_F_vx_d_kind, HD_V_vx_dest_xm);
    hd_ops_set(&l->s, HD_F_vx_n0, vectors), hd_ops_set(&l->s, HD_F_vx_n1, 1);
    hd_ops_set(&l->s, HD_F_vx_n2, 1), hd_ops_set(&l->s, HD_F_vx_n3, 1);
    if (a_kind != HD_V_vx_kind_zero) hd_ops_touch(&l->s, HD_SPACE_XM, 0, l->m.n, false);
    l->s.ops[l->s.n_ops - 1].writes_banks = 1u << bank;
    end(l);
}

/* LX waits for words that VX writes to the bank that it fills. The load that fills it need not be
 * the last that began: that one is still behind it. */
static void results_hold_up_the_load_at_hand(void **state) {
    (void)state;
    enum { BANK = 4096, VECTORS = 400 };
    int64_t took[3];
    for (int i = 0; i < 3; i++) {
        struct list l;
        make_list(&l, "tiny", 64);
        load(&l, 0, 7 * BANK, BANK, 1, BANK);
        if (i == 2) load(&l, 0, 0, 8, 1, 8);
        fill_bank(&l, VECTORS, i ? 7 : 3, HD_V_vx_kind_zero);
        took[i] = cycles(&l);
        drop_list(&l);
    }
    /* VX begins before the first data come */
    assert_in_range(took[1], took[0] + VECTORS - 100, took[0] + VECTORS);
    assert_in_range(took[2], took[1], took[1] + 80); /* it comes behind */
}

/* VX ends its reads while the second load's data come. Its last words fill the bank of the third,
 * which has asked for its first data by then. */
static void results_hold_up_the_next_load(void **state) {
    (void)state;
    enum { BANK = 4096, FIRST = 800, SECOND = 400 };
    int64_t took[2];
    for (int same = 0; same < 2; same++) {
        struct list l;
        make_list(&l, "tiny", 64);
        load(&l, 0, 0, FIRST, 1, FIRST);
        load(&l, 0, BANK, SECOND, 1, SECOND);
        load(&l, 0, 7 * BANK, 400, 1, 400);
        fill_bank(&l, 45, same ? 7 : 3, HD_V_vx_kind_xm_int8);
        took[same] = cycles(&l);
        drop_list(&l);
    }
    assert_in_range(took[1], took[0] + 10, took[0] + 20);
}

/* A product waits for the last load that wrote what it reads, not for later ones. */
static void a_wait_that_is_implied_is_left_out(void **state) {
    (void)state;
    struct list l;
    make_list(&l, "tiny", 64);
    load(&l, 0, 0, 64, 1, 64);
    load(&l, 64, 64, 64, 1, 64);
    load(&l, 128, 128, 64, 1, 64);
    gemm(&l, 64, 10, 0);
    gemm(&l, 0, 10, 1); /* load 1 is known to be done: LX works in order */
    assert_int_equal(l.s.ops[3].after[HD_UNIT_lx], 2);
    assert_int_equal(l.s.ops[4].wait, 0);
    assert_int_equal(l.s.ops[2].signal, 0);
    assert_int_equal(l.s.ops[1].signal, l.s.ops[3].wait);
    drop_list(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_iteration_a_cycle),
                                       cmocka_unit_test(one_beat_a_cycle),
                                       cmocka_unit_test(a_store_waits_for_answers),
                                       cmocka_unit_test(stores_wait_in_the_queue),
                                       cmocka_unit_test(a_load_asks_behind_padding),
                                       cmocka_unit_test(only_what_depends_waits),
                                       cmocka_unit_test(results_hold_up_the_load_at_hand),
                                       cmocka_unit_test(results_hold_up_the_next_load),
                                       cmocka_unit_test(a_wait_that_is_implied_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
