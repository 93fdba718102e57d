/* Runs on the ISS: order by semaphores, errors with unit and place, deadlock, repetition, jitter.
 */
#include "test/unit/sim/rig.h"

enum { BYTES = 1024 };

static void chain_words(uint32_t lx[], uint32_t st[], uint32_t src, uint32_t dst) {
    RIG_SET(lx, lx, src, RIG_DATA + src), RIG_SET(lx, lx, run, BYTES);
    RIG_SET(lx, lx, n1, 1), RIG_SET(lx, lx, n2, 1), RIG_SET(lx, lx, n3, 1);
    RIG_SET(st, st, seg, 1), RIG_SET(st, st, dst, dst), RIG_SET(st, st, run, BYTES);
    RIG_SET(st, st, n1, 1), RIG_SET(st, st, n2, 1), RIG_SET(st, st, n3, 1);
}

/* Copies n blocks through one buffer: load waits for the store before it (semaphore 2), store for
 * its load (1). */
static void copy_program(struct rig *r, int n) {
    for (int i = 0; i < n; i++) {
        uint32_t lx[HD_PARAM_WORDS] = {0}, st[HD_PARAM_WORDS] = {0};
        chain_words(lx, st, (uint32_t)i * BYTES, (uint32_t)(n - 1 - i) * BYTES);
        rig_op(r, HD_OP_lx_load, i ? 4 : 0, 2, lx);
        rig_op(r, HD_OP_st_store, 2, i + 1 < n ? 4 : 0, st);
    }
    rig_end(r);
}

static void check_copy(const struct rig *r, int n) {
    for (int i = 0; i < n; i++)
        assert_memory_equal(r->arena + (n - 1 - i) * BYTES, r->image + RIG_DATA + i * BYTES, BYTES);
}

static void order(void **state) {
    (void)state;
    for (int machine = 0; machine < 3; machine++) {
        struct rig r = rig_open(machine, 0);
        copy_program(&r, 20); /* more than a queue holds */
        assert_int_equal(rig_run(&r), HD_ERR_none);
        check_copy(&r, 20);
        assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_write_bytes), 20 * BYTES);
        assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_sem_nonzero), 0);
        rig_close(&r);
    }
}

static void twice(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    uint32_t cycles[2];
    copy_program(&r, 5);
    for (int i = 0; i < 2; i++) {
        memset(r.arena, 0, RIG_DRAM);
        assert_int_equal(rig_run(&r), HD_ERR_none);
        check_copy(&r, 5);
        cycles[i] = hd_iss_reg_read(r.iss, HD_REG_cycles);
    }
    assert_int_equal(cycles[0], cycles[1]);
    rig_close(&r);
}

/* Pausing at any cycle and going on changes nothing. */
static void slices(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    copy_program(&r, 5);
    assert_int_equal(rig_run(&r), HD_ERR_none);
    uint32_t cycles = hd_iss_reg_read(r.iss, HD_REG_cycles);
    hd_iss_reg_write(r.iss, HD_REG_ap_ctrl, 1);
    for (uint64_t t = 7; !hd_iss_run(r.iss, t); t += 7) assert_true(t < 2 * (uint64_t)cycles);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_cycles), cycles);
    check_copy(&r, 5);
    rig_close(&r);
}

static void jitter(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct rig r = rig_open((int)(seed % 3), seed);
        copy_program(&r, 12);
        assert_int_equal(rig_run(&r), HD_ERR_none);
        check_copy(&r, 12);
        rig_close(&r);
    }
}

/* Sticky words: the second load carries two words. */
static void sticky(void **state) {
    (void)state;
    struct rig r = rig_open(0, 0);
    uint32_t lx[HD_PARAM_WORDS] = {0}, st[HD_PARAM_WORDS] = {0};
    chain_words(lx, st, 0, 0);
    rig_op(&r, HD_OP_lx_load, 0, 0, lx);
    struct hd_op_word op = {.unit = HD_UNIT_lx, .code = 1, .set = 12};
    hd_field_set(op.lit, HD_F_lx_src, RIG_DATA + 5000);
    hd_field_set(op.lit, HD_F_lx_dst, 2048);
    int len = hd_op_encode(&op, r.code + r.n + 1);
    r.code[r.n] = hd_bundle_head(1u << HD_UNIT_lx);
    r.n += (uint32_t)len + 1;
    rig_go(&r);
    assert_memory_equal((uint8_t *)rig_memory(&r, HD_ISS_XM) + 2048, r.image + RIG_DATA + 5000,
                        BYTES);
    rig_close(&r);
}

/* Two units wait for each other: an error, after the watchdog's cycles, with both waits in the
 * registers. */
static void deadlock(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    uint32_t lx[HD_PARAM_WORDS] = {0}, st[HD_PARAM_WORDS] = {0};
    chain_words(lx, st, 0, 0);
    uint32_t lx_pc = rig_op(&r, HD_OP_lx_load, 1 << 4, 1 << 3, lx);
    uint32_t st_pc = rig_op(&r, HD_OP_st_store, 1 << 3, 1 << 4, st);
    rig_end(&r);
    assert_int_equal(rig_run(&r), HD_ERR_watchdog);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_wait_mask + 4 * HD_UNIT_lx), 1 << 4);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_wait_mask + 4 * HD_UNIT_st), 1 << 3);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_next_pc + 4 * HD_UNIT_lx), lx_pc);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_next_pc + 4 * HD_UNIT_st), st_pc);
    assert_true(hd_iss_reg_read(r.iss, HD_REG_cycles) >= 5000);
    assert_true(hd_iss_reg_read(r.iss, HD_REG_cycles) < 6000);
    hd_iss_reg_write(r.iss, HD_REG_watchdog,
                     0); /* off: reported all the same, a simulator must not hang */
    assert_int_equal(rig_run(&r), HD_ERR_watchdog);
    rig_close(&r);
}

/* Runs one operation of which word `word` is `value`; expects the error at that operation. */
static void expect_error(enum hd_opcode o, const uint32_t *good, enum hd_field f, int64_t value,
                         unsigned want) {
    struct rig r = rig_open(0, 0);
    uint32_t p[HD_PARAM_WORDS];
    memcpy(p, good, sizeof p);
    hd_field_set(p, f, value);
    uint32_t pc = rig_op(&r, o, 0, 0, p);
    rig_end(&r);
    assert_int_equal(rig_run(&r), want);
    if (want) {
        assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_error_unit), hd_isa_ops[o].unit);
        assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_error_pc), pc);
    }
    rig_close(&r);
}

static void operand_errors(void **state) {
    (void)state;
    uint32_t lx[HD_PARAM_WORDS] = {0}, st[HD_PARAM_WORDS] = {0}, lw[HD_PARAM_WORDS] = {0};
    uint32_t mx[HD_PARAM_WORDS] = {0}, vx[HD_PARAM_WORDS] = {0};
    chain_words(lx, st, 0, 0);
    RIG_SET(lw, lw, count, 4), RIG_SET(lw, lw, n1, 1);
    for (int l = 0; l < 6; l++) hd_field_set(mx, (enum hd_field)(HD_F_mx_n0 + 4 * l), 1);
    for (int l = 0; l < 4; l++) hd_field_set(vx, (enum hd_field)(HD_F_vx_n0 + l), 1);
    const struct {
        enum hd_opcode op;
        const uint32_t *words;
        enum hd_field field;
        int64_t value;
        unsigned want;
    } t[] = {
        {HD_OP_lx_load, lx, HD_F_lx_run, BYTES, HD_ERR_none},
        {HD_OP_lx_load, lx, HD_F_lx_run, 0, HD_ERR_operand},
        {HD_OP_lx_load, lx, HD_F_lx_n2, 0, HD_ERR_operand},
        {HD_OP_lx_load, lx, HD_F_lx_seg, 2, HD_ERR_operand},
        {HD_OP_lx_load, lx, HD_F_lx_src, RIG_DRAM - BYTES, HD_ERR_none},
        {HD_OP_lx_load, lx, HD_F_lx_src, RIG_DRAM - BYTES + 1, HD_ERR_window},
        {HD_OP_lx_load, lx, HD_F_lx_src, UINT32_MAX, HD_ERR_window},
        {HD_OP_lx_load, lx, HD_F_lx_dst, 32768 - BYTES, HD_ERR_none},
        {HD_OP_lx_load, lx, HD_F_lx_dst, 32768 - BYTES + 1, HD_ERR_range},
        {HD_OP_st_store, st, HD_F_st_seg, 0, HD_ERR_window},
        {HD_OP_st_store, st, HD_F_st_dst, RIG_DRAM, HD_ERR_window},
        {HD_OP_st_store, st, HD_F_st_src, 32768, HD_ERR_range},
        {HD_OP_st_store, st, HD_F_st_n3, 0, HD_ERR_operand},
        {HD_OP_lw_load, lw, HD_F_lw_count, 0, HD_ERR_operand},
        {HD_OP_lw_load, lw, HD_F_lw_src, 4, HD_ERR_range},
        {HD_OP_lw_load, lw, HD_F_lw_dst, 1021, HD_ERR_range},
        {HD_OP_lw_load, lw, HD_F_lw_dst, 1020, HD_ERR_none},
        {HD_OP_mx_gemm, mx, HD_F_mx_n5, 0, HD_ERR_operand},
        {HD_OP_mx_gemm, mx, HD_F_mx_nred, 7, HD_ERR_operand},
        {HD_OP_mx_gemm, mx, HD_F_mx_x, 4096, HD_ERR_range},
        {HD_OP_mx_gemm, mx, HD_F_mx_w, 1024, HD_ERR_range},
        {HD_OP_mx_gemm, mx, HD_F_mx_a, 1024, HD_ERR_range},
        {HD_OP_mx_gemm, mx, HD_F_mx_a, 1023, HD_ERR_none},
        {HD_OP_vx_map, vx, HD_F_vx_n0, 0, HD_ERR_operand},
        {HD_OP_vx_map, vx, HD_F_vx_a_kind, 7, HD_ERR_operand},
        {HD_OP_vx_map, vx, HD_F_vx_nred, 1, HD_ERR_operand},
        {HD_OP_vx_map, vx, HD_F_vx_a, 1024, HD_ERR_range},
        {HD_OP_vx_map, vx, HD_F_vx_d, 4096, HD_ERR_range},
        {HD_OP_vx_map, vx, HD_F_vx_b, 4096, HD_ERR_none}, /* not read: alu 0 */
    };
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        expect_error(t[i].op, t[i].words, t[i].field, t[i].value, t[i].want);
}

static void header_errors(void **state) {
    (void)state;
    const struct {
        int word;
        uint32_t value;
        unsigned want;
    } t[] = {{0, 0, HD_ERR_magic},
             {1, 1, HD_ERR_isa},
             {2, 1, HD_ERR_machine},
             {3, UINT32_MAX / 4, HD_ERR_window},
             {3, 3, HD_ERR_encoding},
             {4, 0, HD_ERR_encoding}, /* a bundle of no words */
             {4, 0x00004081, HD_ERR_encoding},
             {5, 0xf, HD_ERR_encoding}};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct rig r = rig_open(0, 0);
        rig_end(&r);
        r.code[t[i].word] = t[i].value;
        assert_int_equal(rig_run(&r), t[i].want);
        r.n = HD_PROG_HEADER_WORDS;
        rig_go(&r); /* the next run is clean */
        rig_close(&r);
    }
}

static void overflow(void **state) {
    (void)state;
    struct rig r = rig_open(0, 0);
    for (int i = 0; i < 255; i++) rig_op(&r, HD_OP_mx_nop, 0, 1, NULL);
    rig_end(&r);
    assert_int_equal(rig_run(&r), HD_ERR_none);
    assert_int_equal(hd_iss_reg_read(r.iss, HD_REG_sem_nonzero), 1);
    r.n = HD_PROG_HEADER_WORDS;
    for (int i = 0; i < 256; i++) rig_op(&r, HD_OP_mx_nop, 0, 1, NULL);
    rig_end(&r);
    assert_int_equal(rig_run(&r), HD_ERR_semaphore);
    rig_close(&r);
}

/* The cycles of all tags are the cycles of the run; bytes belong to their operations. */
static void accounting(void **state) {
    (void)state;
    struct rig r = rig_open(1, 0);
    copy_program(&r, 8);
    assert_int_equal(rig_run(&r), HD_ERR_none);
    int n;
    const struct hd_layer_counters *l = hd_iss_layers(r.iss, &n);
    assert_int_equal(n, HD_UNIT_st + 1);
    assert_int_equal(l[HD_UNIT_lx].read_bytes, 8 * BYTES);
    assert_int_equal(l[HD_UNIT_st].write_bytes, 8 * BYTES);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),          cmocka_unit_test(twice),
        cmocka_unit_test(slices),         cmocka_unit_test(jitter),
        cmocka_unit_test(sticky),         cmocka_unit_test(deadlock),
        cmocka_unit_test(operand_errors), cmocka_unit_test(header_errors),
        cmocka_unit_test(overflow),       cmocka_unit_test(accounting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
