/* Fields that an operation does not look at keep what its unit holds; those that it does look at
 * keep what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/machine_ops/machine_ops.h"

enum { HELD = 128, OWN = 3 };

struct op {
    uint32_t w[HD_PARAM_WORDS], held[HD_PARAM_WORDS];
};

static void set(struct op *o, enum hd_field f, int64_t held, int64_t own) {
    hd_field_set(o->held, f, held);
    hd_field_set(o->w, f, own);
}

static int64_t filled(const struct op *o, enum hd_opcode op, enum hd_field f) {
    struct op copy = *o;
    hd_op_fill_dont_cares((int)hd_isa_ops[op].unit, hd_isa_ops[op].code, copy.w, copy.held);
    assert_memory_equal(copy.held, o->held, sizeof o->held);
    return hd_field_get(copy.w, f);
}

/* The step of a loop counts where the loop runs more than once. */
static void steps_of_loops(void **state) {
    (void)state;
    static const struct {
        enum hd_opcode op;
        enum hd_field n, step;
    } loops[] = {{HD_OP_lx_load, HD_F_lx_n1, HD_F_lx_s1},  {HD_OP_lx_load, HD_F_lx_n3, HD_F_lx_d3},
                 {HD_OP_lw_load, HD_F_lw_n1, HD_F_lw_s1},  {HD_OP_mx_gemm, HD_F_mx_n2, HD_F_mx_xs2},
                 {HD_OP_mx_gemm, HD_F_mx_n4, HD_F_mx_as4}, {HD_OP_vx_map, HD_F_vx_n1, HD_F_vx_ds1},
                 {HD_OP_st_store, HD_F_st_n2, HD_F_st_d2}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        for (int n = 1; n <= 2; n++) {
            struct op o = {{0}, {0}};
            set(&o, loops[i].step, HELD, OWN);
            set(&o, loops[i].n, 5, n);
            assert_int_equal(filled(&o, loops[i].op, loops[i].step), n == 1 ? HELD : OWN);
            assert_int_equal(filled(&o, loops[i].op, loops[i].n), n);
        }
}

/* Code 0 is every unit's nop: it looks at nothing. */
static void a_nop_changes_nothing(void **state) {
    (void)state;
    struct op o;
    for (int i = 0; i < HD_PARAM_WORDS; i++) o.w[i] = 0, o.held[i] = (uint32_t)i * 3 + 1;
    hd_op_fill_dont_cares(HD_UNIT_vx, 0, o.w, o.held);
    assert_memory_equal(o.w, o.held, sizeof o.w);
}

/* Steps are aligned in DRAM and on chip also where no loop uses them. */
static void alignment_stays(void **state) {
    (void)state;
    struct op o = {{0}, {0}};
    set(&o, HD_F_lw_n1, 1, 1);
    set(&o, HD_F_lw_s1, 64 + 8, 0);
    assert_int_equal(filled(&o, HD_OP_lw_load, HD_F_lw_s1), 0);
    set(&o, HD_F_lw_s1, 2 * 64, 0);
    assert_int_equal(filled(&o, HD_OP_lw_load, HD_F_lw_s1), 2 * 64);
    set(&o, HD_F_lx_n1, 1, 1);
    set(&o, HD_F_lx_d1, HELD, OWN), set(&o, HD_F_lx_mem, 0, HD_V_chip_am);
    assert_int_equal(filled(&o, HD_OP_lx_load, HD_F_lx_d1), OWN);
    set(&o, HD_F_lx_mem, 0, HD_V_chip_xm);
    assert_int_equal(filled(&o, HD_OP_lx_load, HD_F_lx_d1), HELD);
}

/* Padding alone has no source; a load that is cut to a tensor has one, and a pad value. */
static void what_a_load_looks_at(void **state) {
    (void)state;
    static const struct {
        int edge, rows;
        bool src, pad, y0;
    } loads[] = {{0, 0, true, false, false}, {1, 0, false, true, false}, {1, 9, true, true, true}};
    for (int i = 0; i < 3; i++) {
        struct op o = {{0}, {0}};
        set(&o, HD_F_lx_edge, 0, loads[i].edge), set(&o, HD_F_lx_rows, 0, loads[i].rows);
        set(&o, HD_F_lx_src, HELD, OWN), set(&o, HD_F_lx_pad, HELD, OWN);
        set(&o, HD_F_lx_y0, HELD, OWN);
        assert_int_equal(filled(&o, HD_OP_lx_load, HD_F_lx_src), loads[i].src ? OWN : HELD);
        assert_int_equal(filled(&o, HD_OP_lx_load, HD_F_lx_pad), loads[i].pad ? OWN : HELD);
        assert_int_equal(filled(&o, HD_OP_lx_load, HD_F_lx_y0), loads[i].y0 ? OWN : HELD);
    }
}

/* Operand B of vx.map counts where the function takes two, and its address where it is in memory.
 */
static void one_operand_or_two(void **state) {
    (void)state;
    static const struct {
        int alu, kind;
        bool address, scale;
    } maps[] = {{HD_V_vx_alu_a, HD_V_vx_kind_xm_int8, false, false},
                {HD_V_vx_alu_add, HD_V_vx_kind_xm_int8, true, true},
                {HD_V_vx_alu_add, HD_V_vx_kind_zero, false, true}};
    for (int i = 0; i < 3; i++) {
        struct op o = {{0}, {0}};
        set(&o, HD_F_vx_alu, 0, maps[i].alu), set(&o, HD_F_vx_b_kind, 0, maps[i].kind);
        set(&o, HD_F_vx_b, HELD, OWN), set(&o, HD_F_vx_b_scale, HELD, OWN);
        assert_int_equal(filled(&o, HD_OP_vx_map, HD_F_vx_b), maps[i].address ? OWN : HELD);
        assert_int_equal(filled(&o, HD_OP_vx_map, HD_F_vx_b_scale), maps[i].scale ? OWN : HELD);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_loops), cmocka_unit_test(a_nop_changes_nothing),
        cmocka_unit_test(alignment_stays), cmocka_unit_test(what_a_load_looks_at),
        cmocka_unit_test(one_operand_or_two)};
    return cmocka_run_group_tests_name("dont_care", tests, NULL, NULL);
}
