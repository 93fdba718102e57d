/* Images as values of inputs: sizes, middles, channels and types, counted by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/ir/ir.h"
#include "compiler/tensors/image.h"

static const struct hd_image_options plain = {.scale = {1, 1, 1}};

static struct hd_value_info value(hd_dtype t, int64_t n, int64_t a, int64_t b, int64_t c) {
    return (struct hd_value_info){.name = "x",
                                  .dtype = hd_dtype_to_onnx(t),
                                  .elem_bytes = (int)hd_dtype_bytes(t),
                                  .rank = 4,
                                  .dim = {n, a, b, c}};
}

static hd_status put(const struct hd_image *x, const struct hd_image_options *o,
                     const struct hd_value_info *v, int64_t i, void *data) {
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_image_put(ctx, x, o, v, i, data);
    hd_ctx_destroy(ctx);
    return s;
}

/* Values of an image of one row, all channels alike, as an input of `to` grey pixels. */
static void check_row(const uint8_t *row, int from, const float *want, int to) {
    uint8_t rgb[3 * 8];
    float got[8];
    for (int i = 0; i < 3 * from; i++) rgb[i] = row[i / 3];
    struct hd_value_info v = value(HD_F32, 1, 1, 1, to);
    assert_int_equal(put(&(struct hd_image){from, 1, rgb}, &plain, &v, 0, got), HD_OK);
    for (int i = 0; i < to; i++) assert_true(fabsf(got[i] - want[i]) < 1e-3f);
}

static void sizes(void **state) {
    (void)state;
    check_row((uint8_t[]){0, 100}, 2, (float[]){0, 25, 75, 100}, 4);
    check_row((uint8_t[]){7, 9, 11}, 3, (float[]){7, 9, 11}, 3);
    /* centre 1 reaches from -1 to 3: weights 3, 3, 1 of 7 */
    check_row((uint8_t[]){10, 20, 30, 40}, 4, (float[]){120 / 7.0f, 230 / 7.0f}, 2);
}

/* 4 x 2 pixels; the middle 2 x 2 of them, in two orders of memory. */
static void middles(void **state) {
    (void)state;
    uint8_t rgb[8 * 3];
    float planes[3 * 4 * 2], pixels[3 * 4];
    for (int i = 0; i < 24; i++) rgb[i] = (uint8_t)(10 * (i / 3) + i % 3);
    struct hd_image x = {4, 2, rgb};
    struct hd_image_options o = {.resize = 2, .mean = {1, 1, 1}, .scale = {2, 2, 4}};
    struct hd_value_info v = value(HD_F32, 2, 3, 2, 2), w = value(HD_F32, 1, 2, 2, 3);
    static const int middle[4] = {1, 2, 5, 6};
    assert_int_equal(put(&x, &o, &v, 1, planes), HD_OK); /* the second sample */
    o.bgr = true;
    assert_int_equal(put(&x, &o, &w, 0, pixels), HD_OK);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 4; i++) {
            float factor = c == 2 ? 4 : 2;
            assert_true(planes[12 + 4 * c + i] == ((float)(10 * middle[i] + c) - 1) * factor);
            assert_true(pixels[3 * i + c] == ((float)(10 * middle[i] + 2 - c) - 1) * factor);
        }
}

/* Bytes are rounded and saturate; red, green and blue make 0.299, 0.587 and 0.114 of grey. */
static void types(void **state) {
    (void)state;
    const uint8_t rgb[6] = {100, 200, 50, 255, 255, 255};
    struct hd_image x = {2, 1, rgb};
    int8_t got[2];
    struct hd_value_info v = value(HD_I8, 1, 1, 1, 2), wrong = value(HD_F32, 1, 2, 1, 2);
    struct hd_image_options o = {.mean = {100}, .scale = {1}};
    assert_int_equal(put(&x, &o, &v, 0, got), HD_OK);
    assert_int_equal(got[0], 53); /* 29.9 + 117.4 + 5.7 - 100 */
    assert_int_equal(got[1], 127);
    assert_int_equal(put(&x, &o, &wrong, 0, got), HD_INVALID);
    o.resize = 1;
    assert_int_equal(put(&x, &o, &v, 0, got), HD_OK);
    v.dim[2] = 2; /* higher than the image when its shorter side is 1 */
    assert_int_equal(put(&x, &o, &v, 0, got), HD_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(middles),
                                       cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
