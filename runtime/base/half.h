/* IEEE binary16, as bits. */
#ifndef HD_BASE_HALF_H
#define HD_BASE_HALF_H

#include <stdint.h>

float hd_f16_to_f32(uint16_t h); /* exact */
uint16_t hd_f32_to_f16(float f); /* nearest, ties to even; overflow gives infinity */

#endif
