/* Tables, fields, encoder and decoder; ten bundles as hex by hand, an oracle outside the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "test/unit/isa/random_op.h"

static void tables_are_consistent(void **state) {
    (void)state;
    const char *bad = hd_isa_check();
    assert_string_equal(bad ? bad : "", "");
    assert_int_equal(hd_isa_units[HD_UNIT_seq].n_words, 0);
    assert_int_equal(hd_isa_units[HD_UNIT_lx].n_words, 16);
    assert_int_equal(hd_isa_units[HD_UNIT_vx].n_words, 22);
    assert_int_equal(hd_isa_hash(), hd_isa_hash());
    assert_string_equal(hd_error_text(HD_ERR_none), "no error");
    assert_string_equal(hd_error_text(12), "unknown error");
    assert_string_equal(hd_error_text(1000000), "unknown error");
}

/* By hand, outside the tables: what is in programs that others have, and what hardware has. */
static void values_and_times(void **state) {
    (void)state;
    assert_int_equal(HD_V_vx_kind_am_int32, 0);
    assert_int_equal(HD_V_vx_kind_xm_uint8, 3);
    assert_int_equal(HD_V_vx_kind_pm_f32, 6);
    assert_int_equal(HD_V_vx_alu_mul, 3);
    assert_int_equal(HD_V_vx_alu_min, 5);
    assert_int_equal(HD_V_vx_red_max, 2);
    assert_int_equal(HD_V_vx_dest_am_int32, 2);
    assert_int_equal(HD_V_vx_dest_xm_transposed, 3);
    assert_int_equal(HD_V_vx_fn_sigmoid, 5);
    assert_int_equal(HD_V_lw_mem_tm, 2);
    assert_int_equal(HD_V_st_sat_int16, 3);
    assert_int_equal(HD_V_seg_arena, 1);
    assert_int_equal(hd_value_max(HD_F_vx_b_kind), 6);
    assert_int_equal(hd_value_max(HD_F_st_mem), 1);
    assert_int_equal(hd_value_max(HD_F_vx_n0), -1);
    assert_int_equal(HD_T_mx_done, 9);
    assert_int_equal(HD_T_vx_write, 19);
    assert_int_equal(HD_T_vx_fn, 8);
    assert_int_equal(HD_N_open_bursts, 16);
    assert_int_equal(HD_DEFAULT_mem_latency, 64);
}

static void names_are_found(void **state) {
    (void)state;
    assert_int_equal(hd_unit_by_name("mxx", 2), HD_UNIT_mx);
    assert_int_equal(hd_unit_by_name("m", 1), -1);
    assert_int_equal(hd_unit_by_name("", 0), -1);
    assert_int_equal(hd_op_by_name(HD_UNIT_vx, "map", 3), HD_OP_vx_map);
    assert_int_equal(hd_op_by_name(HD_UNIT_mx, "map", 3), -1);
    assert_int_equal(hd_op_by_code(HD_UNIT_seq, 2), HD_OP_seq_barrier);
    assert_int_equal(hd_op_by_code(HD_UNIT_seq, 3), -1);
    assert_int_equal(hd_field_by_name(HD_UNIT_lx, "rows", 4), HD_F_lx_rows);
    assert_int_equal(hd_field_by_name(HD_UNIT_lx, "row", 3), -1);
}

static void every_field_keeps_its_corners(void **state) {
    (void)state;
    for (int f = 0; f < HD_FIELDS; f++) {
        const struct hd_field_info *fi = &hd_isa_fields[f];
        int64_t span = INT64_C(1) << fi->width;
        int64_t min = fi->kind == HD_KIND_S ? -span / 2 : 0, max = min + span - 1;
        const int64_t corner[] = {min, min + 1, 0, max - 1, max};
        for (int i = 0; i < 5; i++) {
            uint32_t words[HD_PARAM_WORDS] = {0}, ones[HD_PARAM_WORDS];
            memset(ones, 0xff, sizeof ones);
            if (!hd_field_fits((enum hd_field)f, corner[i])) continue; /* 1-bit fields */
            hd_field_set(words, (enum hd_field)f, corner[i]);
            hd_field_set(ones, (enum hd_field)f, corner[i]);
            assert_int_equal(hd_field_get(words, (enum hd_field)f), corner[i]);
            assert_int_equal(hd_field_get(ones, (enum hd_field)f), corner[i]);
            for (int g = 0; g < HD_FIELDS; g++)
                if (g != f && hd_isa_fields[g].unit == fi->unit)
                    assert_int_equal(hd_field_get(words, (enum hd_field)g), 0);
        }
        assert_false(hd_field_fits((enum hd_field)f, min - 1));
        assert_false(hd_field_fits((enum hd_field)f, max + 1));
    }
}

static void words_stay_until_they_are_set(void **state) {
    (void)state;
    struct hd_sticky unit = {{7, 0xffffffff, 5}};
    struct hd_op_word op = {.code = 1, .set = 5, .lit = {3, 2, 1}};
    hd_op_apply(&op, &unit);
    assert_int_equal(unit.words[0], 3);
    assert_int_equal(unit.words[1], 0xffffffff);
    assert_int_equal(unit.words[2], 1);
}

static void old_versions_have_names(void **state) {
    (void)state;
    assert_string_equal(hd_isa_version(0x10c4d690), "1.6");
    assert_string_equal(hd_isa_version(0xd5247de3), "1.5");
    assert_string_equal(hd_isa_version(0x605d82c6), "2.0");
    assert_string_equal(hd_isa_version(hd_isa_hash()), "2.1");
    assert_string_equal(hd_isa_version(hd_isa_hash() + 1), "unknown");
    assert_int_equal(HD_ISA_VERSION, 0x20001);
}

static void random_operations_round_trip(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        struct hd_op_word op = random_op(&seed), back;
        uint32_t words[HD_OP_MAX_WORDS];
        const char *why = NULL;
        int n = hd_op_encode(&op, words);
        assert_in_range(n, 1, HD_OP_MAX_WORDS);
        assert_int_equal(hd_op_decode((enum hd_unit)op.unit, words, (size_t)n, &back, &why), n);
        assert_memory_equal(&op, &back, sizeof op);
    }
}

/* Exact-size heap copies: under asan a read past the end is fatal. */
static int decode_copy(const uint32_t *words, size_t n, struct hd_op_word ops[HD_UNITS], int *n_ops,
                       const char **why) {
    int offset[HD_UNITS];
    uint32_t *copy = malloc(n * sizeof *copy + 1);
    assert_non_null(copy);
    if (n) memcpy(copy, words, n * sizeof *copy);
    uint32_t *exact = realloc(copy, n ? n * sizeof *copy : 1);
    assert_non_null(exact);
    *why = NULL;
    int len = hd_bundle_decode(exact, n, ops, offset, n_ops, why);
    free(exact);
    return len;
}

static void truncated_bundles_are_illegal(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 300; i++) {
        uint32_t words[256];
        struct hd_op_word ops[HD_UNITS];
        const char *why;
        int n_ops, len = random_bundle(&seed, words);
        assert_int_equal(decode_copy(words, (size_t)len, ops, &n_ops, &why), len);
        for (int cut = 0; cut < len; cut++) {
            assert_int_equal(decode_copy(words, (size_t)cut, ops, &n_ops, &why), 0);
            assert_non_null(why);
        }
    }
}

static void corrupted_bundles_stay_inside(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        uint32_t words[256];
        struct hd_op_word ops[HD_UNITS];
        const char *why;
        int n_ops = 0, len = random_bundle(&seed, words);
        words[random_u32(&seed) % (uint32_t)len] ^= UINT32_C(1) << random_u32(&seed) % 32;
        int got = decode_copy(words, (size_t)len, ops, &n_ops, &why);
        if (got == 0)
            assert_non_null(why);
        else
            assert_in_range(got, 1, len);
    }
}

struct illegal_case {
    enum hd_unit unit;
    uint32_t words[5];
    size_t n;
};

static void illegal_operations_are_refused(void **state) {
    (void)state;
    static const struct illegal_case cases[] = {
        {HD_UNIT_mx, {0x00000002}, 1},     /* no such code */
        {HD_UNIT_vx, {0x00000003}, 1},     /* no such code */
        {HD_UNIT_seq, {0x00000101, 0}, 2}, /* SEQ has no words */
        {HD_UNIT_lw, {0x00020001, 0}, 2},  /* word 9 of 9 */
        {HD_UNIT_mx, {0x00000041}, 1},     /* reserved bits */
        {HD_UNIT_mx, {0x00000081}, 1},
        {HD_UNIT_mx, {0x00000301, 0}, 2}, /* one of two words */
        {HD_UNIT_mx, {0x00000011}, 1},    /* wait mask is missing */
        {HD_UNIT_mx, {0x00000031, 1}, 2}, /* signal mask is missing */
        {HD_UNIT_mx, {0}, 0},             /* nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hd_op_word op;
        const char *why = NULL;
        assert_int_equal(hd_op_decode(cases[i].unit, cases[i].words, cases[i].n, &op, &why), 0);
        assert_non_null(why);
    }
    const uint32_t bundles[][2] = {
        {0x00000041, 1},
        {0x80000001, 1}, /* reserved bits 6, 31 */
        {0x00000003, 1}, /* the second operation is missing */
    };
    for (size_t i = 0; i < sizeof bundles / sizeof bundles[0]; i++) {
        struct hd_op_word ops[HD_UNITS];
        int n_ops;
        const char *why;
        assert_int_equal(decode_copy(bundles[i], 2, ops, &n_ops, &why), 0);
        assert_non_null(why);
    }
}

/* An operation or bundle that uses what row r keeps free, encoded. */
static size_t use_room(const struct hd_isa_room *r, int i, uint32_t words[3]) {
    uint32_t slot = UINT32_C(1) << r->unit, one = UINT32_C(1) << (r->lsb + i);
    words[0] = hd_bundle_head(slot), words[1] = words[2] = 0;
    switch (r->of) {
    case HD_ROOM_bundle:
        words[0] |= one;
        return 2;
    case HD_ROOM_head:
        words[1] = one;
        return 2;
    case HD_ROOM_codes:
        words[1] = (uint32_t)(r->at + i) << HD_HEAD_code_LSB;
        return 2;
    case HD_ROOM_bits:
        words[1] = UINT32_C(1) << (HD_HEAD_set_LSB + r->at), words[2] = one;
        return 3;
    case HD_ROOM_words:
        words[1] = UINT32_C(1) << (HD_HEAD_set_LSB + r->at + i);
        return 3;
    }
    return 0;
}

/* Rows of isa.def say what is kept free; nothing takes it today. */
static void what_is_kept_free_is_refused(void **state) {
    (void)state;
    assert_true(hd_n_isa_rooms > 0);
    for (int r = 0; r < hd_n_isa_rooms; r++)
        for (int i = 0; i < hd_isa_rooms[r].width; i++) {
            const struct hd_isa_room *room = &hd_isa_rooms[r];
            struct hd_op_word ops[HD_UNITS];
            const char *why = NULL;
            uint32_t words[3];
            int n_ops;
            size_t n = use_room(room, i, words);
            int length = decode_copy(words, n, ops, &n_ops, &why);
            if (room->of != HD_ROOM_bits) {
                assert_int_equal(length, 0);
                assert_non_null(why);
                continue;
            }
            assert_int_equal(length, n); /* the check of programs refuses it: test/golden/check */
            uint32_t extra = words[2] & ~hd_word_named(room->unit, room->at);
            assert_int_equal(extra, words[2]);
            assert_string_equal(hd_room_for(room->unit, room->at, extra), room->doc);
        }
}

/* ---- by hand -------------------------------------------------------------------------------- */

struct hand {
    const char *text;
    size_t n;
    uint32_t words[16];
};

static const struct hand by_hand[] = {
    {"seq.halt", 2, {0x00000001, 0x00000001}},
    {"seq.barrier wait=0,31 sig=4", 4, {0x00000001, 0x00000032, 0x80000001, 0x00000010}},
    {"mx.gemm", 2, {0x00000008, 0x00000001}},
    {"mx.gemm tag=7 x=0x100", 4, {0x00000008, 0x00000501, 0x00000007, 0x00000100}},
    {"mx.gemm n0=9 xs0=-1 w=4", 4, {0x00000008, 0x00002801, 0x00000004, 0xffff0009}},
    {"lx.load edge=1 pad=128 dst=64 rows=14 y0=-3",
     5,
     {0x00000002, 0x00800a01, 0x00008004, 0x00000040, 0xfffd000e}},
    {"lw.load tag=65535 mem=1 src=64",
     5,
     {0x00000004, 0x00000701, 0x0000ffff, 0x00000004, 0x00000040}},
    {"vx.map a_kind=2 scale_pm=1 alu=1 red=1 nred=4 d_kind=1 a_scale=0.5 lo=-128 hi=127",
     5,
     {0x00000010, 0x14000201, 0x00089441, 0x3f000000, 0x007fff80}},
    {"vx.dw a=5", 3, {0x00000010, 0x00000402, 0x00000005}},
    {"st.store seg=1 sig=1 run=16",
     5,
     {0x00000020, 0x00001221, 0x00000002, 0x00000001, 0x00000010}},
    {"{ st.nop wait=2 ; lx.nop sig=2 }",
     5,
     {0x00000022, 0x00000020, 0x00000004, 0x00000010, 0x00000004}},
};

static void bundles_by_hand(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
        uint32_t *words;
        size_t n, want = by_hand[i].n;
        hd_status s = hd_asm(ctx, &hd_machines[1], by_hand[i].text, by_hand[i].text, &words, &n);
        assert_string_equal(hd_message(ctx), "");
        assert_int_equal(s, HD_OK);
        assert_int_equal(n, HD_PROG_HEADER_WORDS + want);
        for (size_t w = 0; w < want; w++)
            assert_int_equal(words[HD_PROG_HEADER_WORDS + w], by_hand[i].words[w]);
        assert_int_equal(words[0], 0x344c4448);
        assert_int_equal(words[3], n);
        free(words);
    }
    hd_ctx_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_consistent),
        cmocka_unit_test(values_and_times),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(every_field_keeps_its_corners),
        cmocka_unit_test(words_stay_until_they_are_set),
        cmocka_unit_test(old_versions_have_names),
        cmocka_unit_test(random_operations_round_trip),
        cmocka_unit_test(truncated_bundles_are_illegal),
        cmocka_unit_test(corrupted_bundles_stay_inside),
        cmocka_unit_test(illegal_operations_are_refused),
        cmocka_unit_test(what_is_kept_free_is_refused),
        cmocka_unit_test(bundles_by_hand),
    };
    return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
