/* Machine operations as text: what is printed can be read by people and comes back equal; what is
 * none is refused with its line. */
#include <stdio.h>
#include <stdlib.h>

#include "compiler/machine_ops/ops_text.h"
#include "test/unit/plan/layers.h"

static const char text[] = "step 0 operations=3 estimate=77\n"
                           "# layer 0 t1\n"
                           "lx.load @0 signal=0 seg=arena run=64 s1=-8\n"
                           "# layer 2 t3\n"
                           "vx.map @2 wait=0,31 a_kind=xm_int8 a_scale=0x1p-1\n"
                           "vx.nop @2 wait=1\n";

static char *print(const struct hd_ops *s) {
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);
    hd_ops_print(s, 0, 77, f);
    fclose(f);
    return out;
}

static void prints(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    struct hd_slot_op ops[] = {
        {.unit = HD_UNIT_lx, .code = (uint8_t)hd_isa_ops[HD_OP_lx_load].code, .number = 1},
        {.unit = HD_UNIT_vx, .code = (uint8_t)hd_isa_ops[HD_OP_vx_map].code, .number = 1},
        {.unit = HD_UNIT_vx, .code = 0, .number = -1}};
    ops[0].signal = 1, ops[1].wait = UINT32_C(1) << 31 | 1, ops[2].wait = 2;
    ops[1].tag = ops[2].tag = 2;
    hd_field_set(ops[0].words, HD_F_lx_seg, HD_V_seg_arena);
    hd_field_set(ops[0].words, HD_F_lx_run, 64), hd_field_set(ops[0].words, HD_F_lx_s1, -8);
    hd_field_set(ops[1].words, HD_F_vx_a_kind, HD_V_vx_kind_xm_int8);
    hd_field_set(ops[1].words, HD_F_vx_a_scale, hd_lower_f32_bits(0.5F));
    const struct hd_ops s = {.lo = &r.lo, .ops = ops, .n_ops = 3};
    char *out = print(&s);
    assert_string_equal(out, text);
    free(out);
    drop_row(&r);
}

static void comes_back_equal(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    struct hd_ops s = {.lo = &r.lo, .arena = r.lo.arena};
    int64_t estimate = 0;
    if (hd_ops_parse(&s, 0, text, "ops", &estimate) != HD_OK) fail_msg("%s", hd_message(r.ctx));
    assert_int_equal(estimate, 77);
    assert_int_equal(s.n_ops, 3);
    assert_int_equal(s.ops[1].wait, UINT32_C(1) << 31 | 1);
    assert_int_equal(hd_field_get(s.ops[0].words, HD_F_lx_s1), -8);
    char *out = print(&s);
    assert_string_equal(out, text);
    free(out);
    drop_row(&r);
}

/* A number that is no number, and one that no name has. */
static void bits_of_floats(void **state) {
    (void)state;
    struct row r;
    make_row(&r);
    struct hd_ops s = {.lo = &r.lo, .arena = r.lo.arena};
    int64_t estimate;
    assert_int_equal(hd_ops_parse(&s, 0,
                                  "step 0 operations=1\n"
                                  "vx.map @0 a_scale=bits:7fc00001 b_scale=bits:3f800000\n",
                                  "ops", &estimate),
                     HD_OK);
    assert_int_equal(hd_field_get(s.ops[0].words, HD_F_vx_a_scale), 0x7fc00001);
    assert_int_equal(hd_field_get(s.ops[0].words, HD_F_vx_b_scale), hd_lower_f32_bits(1));
    char *out = print(&s);
    assert_non_null(strstr(out, " a_scale=bits:7fc00001"));
    assert_non_null(strstr(out, " b_scale=0x1p+0"));
    free(out);
    drop_row(&r);
}

/* Of a text of all steps only those of the step that is asked for. */
static void steps_are_apart(void **state) {
    (void)state;
    for (int step = 0; step < 2; step++) {
        struct row r;
        make_row(&r);
        r.model->n_steps = 2;
        struct hd_ops s = {.lo = &r.lo, .arena = r.lo.arena};
        int64_t estimate;
        assert_int_equal(hd_ops_parse(&s, step,
                                      "step 0 operations=1 estimate=5\nlx.load @0 run=1\n"
                                      "step 1 operations=1 estimate=6\nst.store @3 run=2\n",
                                      "ops", &estimate),
                         HD_OK);
        assert_int_equal(estimate, step ? 6 : 5);
        assert_int_equal(s.n_ops, 1);
        assert_int_equal(s.ops[0].unit, step ? HD_UNIT_st : HD_UNIT_lx);
        assert_int_equal(s.ops[0].tag, step ? 3 : 0);
        drop_row(&r);
    }
}

static void what_is_none_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *op, *message;
    } wrong[] = {{"lx.map @0", "ops:2"},
                 {"zz.load @0", "ops:2"},
                 {"lx.load", "@ and the number of a layer"},
                 {"lx.load @4", "ops:2"}, /* of a row of four */
                 {"lx.load @0 run=16777216", "ops:2"},
                 {"lx.load @0 wait=32", "numbers of semaphores, 0 to 31"},
                 {"lx.load @0 a_scale=1", "wait, signal, "},
                 {"vx.map @0 a_scale=much", "a number, or bits:HEX"},
                 {"lx.load @0\nlx.load @0", "2 operations of step 0, want 1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct row r;
        make_row(&r);
        char all[128];
        struct hd_ops s = {.lo = &r.lo, .arena = r.lo.arena};
        int64_t estimate = -1;
        snprintf(all, sizeof all, "step 0 operations=1\n%s\n", wrong[i].op);
        assert_int_equal(hd_ops_parse(&s, 0, all, "ops", &estimate), HD_INVALID);
        assert_int_equal(estimate, -1);
        if (!strstr(hd_message(r.ctx), wrong[i].message))
            fail_msg("%s: %s, want %s", wrong[i].op, hd_message(r.ctx), wrong[i].message);
        drop_row(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(prints), cmocka_unit_test(comes_back_equal),
                                       cmocka_unit_test(bits_of_floats),
                                       cmocka_unit_test(steps_are_apart),
                                       cmocka_unit_test(what_is_none_is_refused)};
    return cmocka_run_group_tests_name("ops_text", tests, NULL, NULL);
}
