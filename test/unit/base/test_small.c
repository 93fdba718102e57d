/* Floats of one byte and less: values of bits that the formats define, and that every value
 * returns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/small.h"

enum { TYPES = HD_SMALL_E3M2 + 1 };

static int bits_of(int t) {
    return t == HD_SMALL_E2M1 ? 4 : t == HD_SMALL_E2M3 || t == HD_SMALL_E3M2 ? 6 : 8;
}

static void known_values(void **state) {
    (void)state;
    static const struct {
        enum hd_small t;
        uint8_t bits;
        double v;
    } of[] = {{HD_SMALL_E4M3FN, 0x7e, 448},
              {HD_SMALL_E4M3FN, 1, 0x1p-9},
              {HD_SMALL_E4M3FN, 0x38, 1},
              {HD_SMALL_E4M3FNUZ, 0x7f, 240},
              {HD_SMALL_E4M3FNUZ, 1, 0x1p-10},
              {HD_SMALL_E5M2, 0x7b, 57344},
              {HD_SMALL_E5M2, 1, 0x1p-16},
              {HD_SMALL_E5M2, 0xfc, -(double)INFINITY},
              {HD_SMALL_E5M2FNUZ, 0x7f, 57344},
              {HD_SMALL_E5M2FNUZ, 1, 0x1p-17},
              {HD_SMALL_E2M1, 7, 6},
              {HD_SMALL_E2M1, 0xf, -6},
              {HD_SMALL_E2M1, 1, 0.5},
              {HD_SMALL_E8M0, 0, 0x1p-127},
              {HD_SMALL_E8M0, 127, 1},
              {HD_SMALL_E8M0, 254, 0x1p127},
              {HD_SMALL_E4M3, 0x77, 240},
              {HD_SMALL_E4M3, 0x78, (double)INFINITY},
              {HD_SMALL_E3M4, 1, 0x1p-6},
              {HD_SMALL_E3M4, 0x6f, 15.5},
              {HD_SMALL_E4M3B11FNUZ, 0x7f, 30},
              {HD_SMALL_E4M3B11FNUZ, 1, 0x1p-13},
              {HD_SMALL_E2M3, 0x1f, 7.5},
              {HD_SMALL_E3M2, 0x3f, -28}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        assert_true(hd_small_value(of[i].t, of[i].bits) == of[i].v);
    assert_true(isnan(hd_small_value(HD_SMALL_E4M3FN, 0xff)));
    assert_true(isnan(hd_small_value(HD_SMALL_E4M3FNUZ, 0x80)));
    assert_true(isnan(hd_small_value(HD_SMALL_E5M2, 0x7d)));
    assert_true(isnan(hd_small_value(HD_SMALL_E8M0, 255)));
}

static void every_value_returns(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++)
        for (int bits = 0; bits < 1 << bits_of(t); bits++) {
            double v = hd_small_value((enum hd_small)t, (uint8_t)bits);
            uint8_t back = hd_small_bits((enum hd_small)t, v, false);
            if (v != v)
                assert_true(isnan(hd_small_value((enum hd_small)t, back)));
            else
                assert_int_equal(back, bits);
        }
}

/* Between neighbours: half way goes to the even one, a little more or less to the nearer. */
static void rounds_to_nearest(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++)
        for (int bits = 0; t != HD_SMALL_E8M0 && bits < (1 << (bits_of(t) - 1)) - 1; bits++) {
            double a = hd_small_value((enum hd_small)t, (uint8_t)bits);
            double b = hd_small_value((enum hd_small)t, (uint8_t)(bits + 1)), half = (a + b) / 2;
            if (!(b < INFINITY)) break;
            assert_int_equal(hd_small_bits((enum hd_small)t, half, true), bits + (bits & 1));
            assert_int_equal(hd_small_bits((enum hd_small)t, nextafter(half, 0), true), bits);
            assert_int_equal(hd_small_bits((enum hd_small)t, nextafter(half, 1e9), true), bits + 1);
        }
}

static void beyond_the_largest(void **state) {
    (void)state;
    assert_int_equal(hd_small_bits(HD_SMALL_E4M3FN, 464, false), 0x7e); /* half way, to even */
    assert_int_equal(hd_small_bits(HD_SMALL_E4M3FN, 465, false), 0x7f);
    assert_int_equal(hd_small_bits(HD_SMALL_E4M3FN, -(double)INFINITY, true), 0xfe);
    assert_int_equal(hd_small_bits(HD_SMALL_E4M3FNUZ, -1e9, false), 0x80);
    assert_int_equal(hd_small_bits(HD_SMALL_E4M3FNUZ, -0.0, true), 0);
    assert_int_equal(hd_small_bits(HD_SMALL_E5M2, 1e9, false), 0x7c);
    assert_int_equal(hd_small_bits(HD_SMALL_E5M2, 1e9, true), 0x7b);
    assert_int_equal(hd_small_bits(HD_SMALL_E5M2FNUZ, (double)NAN, true), 0x80);
    assert_int_equal(hd_small_bits(HD_SMALL_E2M1, -100, false), 0xf);
    assert_int_equal(hd_small_power(3, 1, true), 129);
    assert_int_equal(hd_small_power(3, -1, true), 128);
    assert_int_equal(hd_small_power(2.9, 0, true), 128);
    assert_int_equal(hd_small_power(0, 1, true), 0);
    assert_int_equal(hd_small_power(0x1p200, 1, true), 254);
    assert_int_equal(hd_small_power(0x1p200, 1, false), 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values), cmocka_unit_test(every_value_returns),
        cmocka_unit_test(rounds_to_nearest), cmocka_unit_test(beyond_the_largest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
