/* PNG and JPEG files as values of an input: decoded, resized, cropped, scaled. */
#ifndef HD_TENSORS_IMAGE_H
#define HD_TENSORS_IMAGE_H

#include "runtime/base/arena.h"
#include "runtime/device/model.h"

struct hd_image {
    int width, height;
    const uint8_t *rgb; /* [height][width][3] */
};

struct hd_image_options {
    int resize;              /* the shorter side takes so many pixels, then the middle is cut out;
                                0: both sides take those of the input */
    float mean[3], scale[3]; /* value = (pixel - mean) * scale, per channel */
    bool bgr;                /* channels stand in the other order */
};

/* .png, .jpg, .jpeg */
bool hd_is_image(const char *path);
/* By libpng or libjpeg-turbo, which are loaded when they are needed. HD_UNSUPPORTED: they are not
 * there. */
hd_status hd_image_load(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_image *out);
/* Writes the image as sample i of input v, [N,C,H,W] or [N,H,W,C] with 1 or 3 channels. */
hd_status hd_image_put(hd_ctx *ctx, const struct hd_image *image, const struct hd_image_options *o,
                       const struct hd_value_info *v, int64_t i, void *data);

#endif
