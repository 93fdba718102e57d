/* IEEE binary16 and bfloat16, as bits. */
#ifndef HD_BASE_HALF_H
#define HD_BASE_HALF_H

#include <stdint.h>

float hd_f16_to_f32(uint16_t h);  /* exact */
uint16_t hd_f32_to_f16(float f);  /* nearest, ties to even; overflow gives infinity */
float hd_bf16_to_f32(uint16_t h); /* the same two */
uint16_t hd_f32_to_bf16(float f);

#endif
