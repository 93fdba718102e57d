/* Floats of one byte and less, as bits: those of ONNX, powers of two alone (e8m0), and those that
 * only StableHLO has. */
#ifndef HD_BASE_SMALL_H
#define HD_BASE_SMALL_H

#include <stdbool.h>
#include <stdint.h>

enum hd_small { /* suffix: fn = no infinity; uz = no -0, whose bits are the one NaN */
                HD_SMALL_E4M3FN,
                HD_SMALL_E4M3FNUZ,
                HD_SMALL_E5M2,
                HD_SMALL_E5M2FNUZ,
                HD_SMALL_E2M1, /* no infinity, no NaN */
                HD_SMALL_E8M0, /* no sign, no zero */
                HD_SMALL_E4M3,
                HD_SMALL_E3M4,
                HD_SMALL_E4M3B11FNUZ,
                HD_SMALL_E2M3, /* 6 bits, as e2m1 without infinity and NaN */
                HD_SMALL_E3M2
};

double hd_small_value(enum hd_small t, uint8_t bits); /* exact */
/* Nearest, ties to even. Beyond the largest number: that number when `saturate` is set, infinity
 * too, else infinity, or NaN where there is none. e2m1 always saturates, and has 0 for NaN. */
uint8_t hd_small_bits(enum hd_small t, double v, bool saturate);
/* e8m0 of a positive number: dir 1 = the power of two above, -1 = below, 0 = the nearer one. */
uint8_t hd_small_power(double v, int dir, bool saturate);

#endif
