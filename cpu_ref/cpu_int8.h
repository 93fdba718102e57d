/* The integer kernels of device cpu: quantised convolution, products, sums and pools on channels-
 * last tensors, bit-equal to golden (docs/numerics.md) on every processor that hd_q_available().
 *
 * Layout "last": [N][H][W][C] bytes, dense. A matrix [M,K] is one image of M x 1 pixels, K
 * channels. Sums are exact: products are added in int32 (cpu_int8_dot.h), or weights are packed so
 * that no sum of int16 saturates (cpu_int8_pack.h); sums of int32 wrap as golden's do. Nothing here
 * allocates in run.
 */
#ifndef HD_CPU_REF_CPU_INT8_H
#define HD_CPU_REF_CPU_INT8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/window.h"

bool hd_q_available(void); /* the kernels below run on this processor */
/* Sums of the widest vpdpbusd that convolutions may use: 16 (AVX-512 VNNI), 8 (AVX-VNNI), 0 = none:
 * what the processor has, and at most what HEDDLE_VNNI says. */
int hd_q_lanes(void);

/* The kernels keep places inside a window as int32 offsets in bytes. */
bool hd_q_offsets_fit(const struct hd_window *v);

struct hd_q_out { /* y = requant(v, zp, lo, hi), stored as i8 or u8 */
    int32_t zp, lo, hi;
    bool is_signed;
};

struct hd_q_sum { /* y = requant((a - a_zp) * a_scale + (b - b_zp) * b_scale) */
    int32_t a_zp, b_zp;
    float a_scale, b_scale;
    bool a_signed, b_signed;
    struct hd_q_out out;
};

enum hd_q_result {               /* what comes of the sums; the last two only with lanes > 0 */
                   HD_Q_REQUANT, /* bytes: requant(sum * scale) */
                   HD_Q_INT32,
                   HD_Q_FLOAT /* each sum, rounded to binary32 */
};

struct hd_q_conv_desc {
    struct hd_window v; /* of x; a matrix: h = 1, w = M, kernel 1x1 */
    int64_t m_all, group;
    const void *w; /* [M][C/group][kh][kw], int8, or int16 when wide */
    bool wide;
    const int32_t *bias; /* [M] */
    const float *scale;  /* [M], finite */
    int32_t x_zp;        /* in the range of x's type: padding is stored as it */
    bool x_signed;
    int lanes; /* sums of the widest vpdpbusd that may be used; the processor has it */
    struct hd_q_out out;
    enum hd_q_result result; /* not HD_Q_REQUANT: no bias, scale, x_zp, out, has_sum */
    bool has_sum;            /* a qadd behind it: a = this result, b = `other` at run */
    struct hd_q_sum sum;     /* ... and then `out` is what a is clamped to */
};

/* Packs weights. The arrays of `d` are not needed afterwards. NULL when memory ran out, or when no
 * kernel is there for `result`. */
typedef struct hd_q_conv hd_q_conv;
hd_q_conv *hd_q_conv_create(const struct hd_q_conv_desc *d, int threads);
void hd_q_conv_destroy(hd_q_conv *c);
size_t hd_q_conv_scratch(const hd_q_conv *c); /* bytes, for all threads; 64-byte aligned */
/* x, y, other: layout last. */
void hd_q_conv_run(const hd_q_conv *c, const void *x, const void *other, void *y, void *scratch);

/* The same when the result is sums, and the zero point of x is only known now. */
void hd_q_conv_run_sums(const hd_q_conv *c, const void *x, int32_t x_zp, void *y, void *scratch);

void hd_q_sum_run(const struct hd_q_sum *s, const void *a, const void *b, void *y, int64_t n);
/* y = requant((x - x_zp) * scale) */
void hd_q_rescale_run(const void *x, bool x_signed, int32_t x_zp, float scale, struct hd_q_out out,
                      void *y, int64_t n);
/* Layout last; windows are clipped to the image. An average is of the values inside the image,
 * with_pads of those inside image and padding. */
void hd_q_maxpool_run(const struct hd_window *v, bool is_signed, const void *x, void *y);
void hd_q_avgpool_run(const struct hd_window *v, bool with_pads, bool x_signed, int32_t x_zp,
                      float scale, struct hd_q_out out, const void *x, void *y);

/* Bilinear, layout last, [n,h,w,c] to [n,oh,ow,c]: result (i,j) is between rows row[i] and the
 * next, by a[i,0] and a[i,1], and between columns col[j] and the next, by b[j,0] and b[j,1]. */
struct hd_q_resize {
    int64_t n, c, h, w, oh, ow;
    const int32_t *row, *col; /* of the image */
    const float *a, *b;       /* finite */
    int32_t x_zp;
    bool x_signed;
    struct hd_q_out out;
};
void hd_q_resize_run(const struct hd_q_resize *r, const void *x, void *y);

/* Mean of each image [N][pixels][C] -> [N][C], in the order that docs/numerics.md gives. */
void hd_q_mean_run(int64_t n, int64_t pixels, int64_t c, bool x_signed, int32_t x_zp, float x_scale,
                   float scale, struct hd_q_out out, const void *x, void *y);
/* x [N][C][pixels] float -> y [N][pixels][C] (channels last; c = 1 for any dense tensor).
 * y = requant(x / scale) */
void hd_q_quantize_run(int64_t n, int64_t c, int64_t pixels, const float *x, float scale,
                       struct hd_q_out out, void *y);
/* DynamicQuantizeLinear: y u8, its scale and zero point from the range of x; docs/numerics.md */
void hd_q_dynamic_run(const float *x, int64_t n, uint8_t *y, float *scale, uint8_t *zp);
/* y = (x - zp) * scale */
void hd_q_dequantize_run(const void *x, bool x_signed, int32_t zp, float scale, float *y,
                         int64_t n);

#endif
