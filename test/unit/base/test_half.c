/* binary16 and bfloat16: exact one way, nearest and ties to even the other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/half.h"

/* Every value comes back, NaN as some NaN. */
static void every_value_returns(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = hd_f16_to_f32((uint16_t)h), b = hd_bf16_to_f32((uint16_t)h);
        if (isnan(f))
            assert_true(isnan(hd_f16_to_f32(hd_f32_to_f16(f))));
        else
            assert_int_equal(hd_f32_to_f16(f), h);
        if (isnan(b))
            assert_true(isnan(hd_bf16_to_f32(hd_f32_to_bf16(b))));
        else
            assert_int_equal(hd_f32_to_bf16(b), h);
    }
}

/* Half way between two neighbours goes to the even one, a little more or less to the nearer. */
static void rounds_to_nearest(void **state) {
    (void)state;
    for (uint32_t h = 0; h + 1 < 0x7c00; h++) {
        float half = (hd_f16_to_f32((uint16_t)h) + hd_f16_to_f32((uint16_t)(h + 1))) / 2;
        assert_int_equal(hd_f32_to_f16(half), h + (h & 1));
        assert_int_equal(hd_f32_to_f16(nextafterf(half, 0)), h);
        assert_int_equal(hd_f32_to_f16(nextafterf(half, INFINITY)), h + 1);
    }
    for (uint32_t h = 0; h + 1 < 0x7f80; h++) {
        float a = hd_bf16_to_f32((uint16_t)h),
              half = a + (hd_bf16_to_f32((uint16_t)(h + 1)) - a) / 2;
        if (isinf(half)) continue;
        assert_int_equal(hd_f32_to_bf16(half), h + (h & 1));
        assert_int_equal(hd_f32_to_bf16(nextafterf(half, INFINITY)), h + 1);
    }
    assert_int_equal(hd_f32_to_f16(65520), 0x7c00);
    assert_int_equal(hd_f32_to_bf16(3.4e38f), 0x7f80);
    assert_int_equal(hd_f32_to_bf16(-INFINITY), 0xff80);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_returns),
        cmocka_unit_test(rounds_to_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
