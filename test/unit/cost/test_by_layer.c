/* Cycles by layer: operations of MX and VX in time, attributed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compiler/cost/by_layer.h"

/* MX: layer 0 in [10, 20), layer 2 in [30, 40). VX: layer 1 in [15, 35). MX comes first; what comes
 * before the first operation is its layer's, what comes behind the last is that one's. */
static void mx_comes_before_vx(void **state) {
    (void)state;
    struct hd_slot_op ops[] = {{.unit = HD_UNIT_mx, .code = 1, .tag = 0},
                               {.unit = HD_UNIT_vx, .code = 1, .tag = 1},
                               {.unit = HD_UNIT_mx, .code = 1, .tag = 2}};
    struct hd_ops s = {.ops = ops, .n_ops = 3};
    int of_mx[] = {0, 2}, of_vx[] = {1};
    s.count[HD_UNIT_mx] = 2, s.by_number[HD_UNIT_mx] = of_mx;
    s.count[HD_UNIT_vx] = 1, s.by_number[HD_UNIT_vx] = of_vx;
    double mx_start[] = {10, 30}, mx_done[] = {20, 40}, vx_start[] = {15}, vx_done[] = {35};
    double *start[HD_UNITS] = {0}, *done[HD_UNITS] = {0};
    start[HD_UNIT_mx] = mx_start, done[HD_UNIT_mx] = mx_done;
    start[HD_UNIT_vx] = vx_start, done[HD_UNIT_vx] = vx_done;
    int64_t of[3] = {0};
    hd_cycles_by_layer(&s, start, done, 50, of);
    assert_int_equal(of[0], 20);
    assert_int_equal(of[1], 10); /* between the two of MX */
    assert_int_equal(of[2], 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mx_comes_before_vx)};
    return cmocka_run_group_tests_name("by layer", tests, NULL, NULL);
}
