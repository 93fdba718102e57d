/* Values: sizes, and the way between dense arrays and the machine's layouts. */
#include <string.h>

#include "runtime/base/num.h"
#include "runtime/device/hal.h"
#include "runtime/device/model.h"

const char *const hd_precision_names[HD_PRECISIONS] = {
#define PRECISION(name, ...) #name,
#include "runtime/device/precision.def"
};

struct hd_value_image hd_value_image(const struct hd_value_info *v) {
    struct hd_value_image i = {1, 1, 1, (size_t)v->c_pad};
    int channel = v->layout == HD_LAYOUT_ROWS ? v->rank - 1 : 1;
    for (int d = 0; d < v->rank; d++)
        *(d < channel ? &i.n : d == channel ? &i.c : &i.pixels) *= (size_t)v->dim[d];
    i.c *= (size_t)v->elem_bytes; /* of binary32: rows only */
    return i;
}

uint64_t hd_place_column(const struct hd_place *p, int column) {
    uint64_t x = (uint64_t)column, pixel = (uint64_t)p->c_pad;
    return p->apart ? x % 2 * (uint64_t)p->apart + x / 2 * pixel : x * pixel;
}

bool hd_place_read(const struct hd_place *p, const uint8_t *xm, size_t xm_bytes,
                   const uint8_t *arena, size_t arena_bytes, void *dense) {
    int pt = 0, pb = 0, pl = 0, pitch = p->w * p->c_pad;
    const uint8_t *from;
    struct hd_place at = *p;
    if (p->in_arena && arena && p->arena_offset + p->arena_bytes <= arena_bytes) {
        from = arena + p->arena_offset;
        at.apart = 0;
    } else if (p->on_chip && !p->rolling && xm && p->xm_offset + p->xm_bytes <= xm_bytes) {
        from = xm + p->xm_offset;
        pt = p->pt, pb = p->pb, pl = p->pl, pitch = p->pitch;
    } else {
        return false;
    }
    uint8_t *to = dense;
    size_t rows = (size_t)(p->h + pt + pb), c = (size_t)p->c, pixels = (size_t)p->h * (size_t)p->w;
    for (size_t n = 0; n < (size_t)p->n; n++)
        for (size_t y = 0; y < (size_t)p->h; y++)
            for (size_t x = 0; x < (size_t)p->w; x++) {
                const uint8_t *pixel = from + (n * rows + y + (size_t)pt) * (size_t)pitch +
                                       hd_place_column(&at, (int)x + pl);
                for (size_t k = 0; k < c; k++) {
                    size_t i = (n * c + k) * pixels + y * (size_t)p->w + x;
                    to[p->wide ? 2 * i + 1 : i] = pixel[k];
                    if (p->wide) to[2 * i] = pixel[(size_t)p->c_pad / 2 + k];
                }
            }
    return true;
}

size_t hd_value_dense_bytes(const struct hd_value_info *v) {
    size_t bytes = (size_t)v->elem_bytes;
    for (int i = 0; i < v->rank; i++) HD_ASSERT(hd_size_mul(bytes, (size_t)v->dim[i], &bytes));
    return bytes;
}

size_t hd_value_arena_bytes(const struct hd_value_info *v) {
    if (v->layout == HD_LAYOUT_DENSE) return hd_value_dense_bytes(v);
    struct hd_value_image i = hd_value_image(v);
    size_t bytes = i.c_pad;
    HD_ASSERT(hd_size_mul(bytes, i.n, &bytes) && hd_size_mul(bytes, i.pixels, &bytes));
    return bytes;
}

/* Copies int16 in two planes, high bytes first, or back. */
static void copy_planes(const struct hd_value_info *v, unsigned char *dense, unsigned char *planes,
                        bool pack) {
    struct hd_value_image i = hd_value_image(v);
    for (size_t n = 0; n < i.n; n++)
        for (size_t b = 0; b < i.c; b++)
            for (size_t p = 0; p < i.pixels; p++) {
                bool high = b % 2;
                unsigned char
                    *d = &dense[((n * i.c / 2 + b / 2) * i.pixels + p) * 2 + high],
                    *a = &planes[(n * i.pixels + p) * i.c_pad + b / 2 + (high ? 0 : i.c_pad / 2)];
                *(pack ? a : d) = *(pack ? d : a);
            }
}

void hd_value_pack(const struct hd_value_info *v, const void *dense, void *arena_form) {
    if (v->layout == HD_LAYOUT_DENSE) {
        memcpy(arena_form, dense, hd_value_dense_bytes(v));
        return;
    }
    struct hd_value_image i = hd_value_image(v);
    const unsigned char *from = dense;
    unsigned char *to = arena_form;
    memset(to, 0, hd_value_arena_bytes(v));
    if (v->elem_bytes == 2) {
        copy_planes(v, (unsigned char *)dense, to, true);
        return;
    }
    for (size_t n = 0; n < i.n; n++)
        for (size_t c = 0; c < i.c; c++)
            for (size_t p = 0; p < i.pixels; p++)
                to[(n * i.pixels + p) * i.c_pad + c] = from[(n * i.c + c) * i.pixels + p];
}

void hd_value_unpack(const struct hd_value_info *v, const void *arena_form, void *dense) {
    if (v->layout == HD_LAYOUT_DENSE) {
        memcpy(dense, arena_form, hd_value_dense_bytes(v));
        return;
    }
    struct hd_value_image i = hd_value_image(v);
    const unsigned char *from = arena_form;
    unsigned char *to = dense;
    if (v->elem_bytes == 2) {
        copy_planes(v, to, (unsigned char *)arena_form, false);
        return;
    }
    for (size_t n = 0; n < i.n; n++)
        for (size_t c = 0; c < i.c; c++)
            for (size_t p = 0; p < i.pixels; p++)
                to[(n * i.c + c) * i.pixels + p] = from[(n * i.pixels + p) * i.c_pad + c];
}
