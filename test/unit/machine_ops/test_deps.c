/* Dependences: what touches the same memory waits, what does not goes on, and a wait that another
 * one implies is left out; a plan that was read and wants room that is not there is refused. */
#include "compiler/machine_ops/machine_ops.h"
#include "test/unit/plan/layers.h"

static struct hd_slot_op *operation(struct hd_ops *s, enum hd_unit unit, enum hd_opcode op,
                                    enum hd_space space, int64_t at, bool write) {
    hd_ops_begin(s, unit, hd_isa_ops[op].code, 0);
    hd_ops_touch(s, space, at, at + 64, write);
    assert_int_equal(hd_ops_end(s), HD_OK);
    return &s->ops[s->n_ops - 1];
}

static void begin(struct row *r, struct hd_ops *s) {
    make_row(r);
    r->opt.latency_hiding = true;
    hd_ops_init(s, &r->lo, r->lo.arena);
}

static void conflicts_wait(void **state) {
    (void)state;
    struct row r;
    struct hd_ops s;
    begin(&r, &s);
    operation(&s, HD_UNIT_lx, HD_OP_lx_load, HD_SPACE_XM, 0, true);
    assert_int_equal(
        operation(&s, HD_UNIT_vx, HD_OP_vx_map, HD_SPACE_XM, 64, false)->after[HD_UNIT_lx], 0);
    assert_int_equal(
        operation(&s, HD_UNIT_vx, HD_OP_vx_map, HD_SPACE_XM, 0, false)->after[HD_UNIT_lx], 1);
    /* what VX waited for it need not wait for again */
    assert_int_equal(operation(&s, HD_UNIT_vx, HD_OP_vx_map, HD_SPACE_XM, 0, false)->wait, 0);
    /* reads do not wait for reads; a write waits for the last of them */
    assert_int_equal(
        operation(&s, HD_UNIT_st, HD_OP_st_store, HD_SPACE_XM, 0, false)->after[HD_UNIT_vx], 0);
    const struct hd_slot_op *load = operation(&s, HD_UNIT_lx, HD_OP_lx_load, HD_SPACE_XM, 0, true);
    assert_int_equal(load->after[HD_UNIT_vx], 3);
    assert_int_equal(load->after[HD_UNIT_st], 1);
    drop_row(&r);
}

static void no_room_is_a_message(void **state) {
    (void)state;
    struct row r;
    struct hd_ops s;
    begin(&r, &s);
    r.opt.plan.text = "plan"; /* only one that was read may want too much */
    hd_ops_begin(&s, HD_UNIT_vx, hd_isa_ops[HD_OP_vx_map].code, 0);
    hd_ops_touch(&s, HD_SPACE_AM, 0, hd_am_words(&r.m) + 64, true);
    assert_int_equal(hd_ops_end(&s), HD_INVALID);
    assert_non_null(strstr(hd_message(r.ctx), "words of AM at a time, there are"));
    drop_row(&r);
    begin(&r, &s);
    r.opt.plan.text = "plan";
    hd_ops_begin(&s, HD_UNIT_vx, hd_isa_ops[HD_OP_vx_map].code, 0);
    hd_ops_set(&s, HD_F_vx_n0, INT32_MAX);
    assert_int_equal(hd_ops_end(&s), HD_INVALID);
    assert_non_null(strstr(hd_message(r.ctx), "n0 would be 2147483647"));
    drop_row(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conflicts_wait),
                                       cmocka_unit_test(no_room_is_a_message)};
    return cmocka_run_group_tests_name("deps", tests, NULL, NULL);
}
