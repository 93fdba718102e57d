/* FlexBuffers, read in place. A buffer ends with its root: the value, its type, its width. A map is
 * a vector of values with their types behind it; in front of it are its size and the way to the
 * vector of its keys. Offsets go backwards from where they stand. */
#include "compiler/import/tflite/flexbuffer.h"

#include <string.h>

enum { INT = 1, UINT, FLOAT, INDIRECT_INT = 6, INDIRECT_UINT, INDIRECT_FLOAT, MAP, BOOL = 26 };

struct bytes {
    const uint8_t *data;
    size_t n;
};

/* `width` bytes at `at`, little-endian; false: they are not all there. */
static bool get(const struct bytes *b, size_t at, int width, uint64_t *out) {
    *out = 0;
    if (width != 1 && width != 2 && width != 4 && width != 8) return false;
    if (at > b->n || b->n - at < (size_t)width) return false;
    for (int i = 0; i < width; i++) *out |= (uint64_t)b->data[at + (size_t)i] << 8 * i;
    return true;
}

/* Where the offset at `at` leads. */
static bool follow(const struct bytes *b, size_t at, int width, size_t *out) {
    uint64_t back;
    if (!get(b, at, width, &back) || back > at) return false;
    *out = at - (size_t)back;
    return true;
}

static bool number(const struct bytes *b, size_t at, int width, uint8_t type, double *out) {
    uint64_t v;
    int kind = type >> 2;
    if (kind == INDIRECT_INT || kind == INDIRECT_UINT || kind == INDIRECT_FLOAT) {
        if (!follow(b, at, width, &at)) return false;
        width = 1 << (type & 3), kind -= INDIRECT_INT - INT;
    }
    if (!get(b, at, width, &v)) return false;
    float f;
    double d;
    uint32_t low = (uint32_t)v;
    memcpy(&f, &low, sizeof f), memcpy(&d, &v, sizeof d);
    int unused = 64 - 8 * width;
    if (kind == UINT || kind == BOOL)
        *out = (double)v;
    else if (kind == INT)
        *out = (double)((int64_t)(v << unused) >> unused);
    else if (kind == FLOAT && width >= 4)
        *out = width == 4 ? (double)f : d;
    else
        return false;
    return true;
}

/* The key at `at` is this one. */
static bool is_key(const struct bytes *b, size_t at, const char *key) {
    size_t n = strlen(key) + 1;
    return at <= b->n && b->n - at >= n && !memcmp(b->data + at, key, n);
}

bool hd_flex_number(const uint8_t *data, size_t bytes, const char *key, double *out) {
    const struct bytes b = {data, bytes};
    if (bytes < 3) return false;
    int root = data[bytes - 1], type = data[bytes - 2], width = 1 << (type & 3);
    size_t map, keys, at;
    uint64_t n, key_width;
    if (type >> 2 != MAP || (size_t)root > bytes - 2) return false;
    if (!follow(&b, bytes - 2 - (size_t)root, root, &map) || map < 3 * (size_t)width) return false;
    size_t w = (size_t)width;
    if (!get(&b, map - w, width, &n) || !get(&b, map - 2 * w, width, &key_width) ||
        !follow(&b, map - 3 * w, width, &keys) || n > (bytes - map) / w || key_width > 8)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!follow(&b, keys + (size_t)(i * key_width), (int)key_width, &at)) return false;
        if (!is_key(&b, at, key)) continue;
        uint64_t packed;
        return get(&b, map + (size_t)n * w + (size_t)i, 1, &packed) &&
               number(&b, map + (size_t)i * w, width, (uint8_t)packed, out);
    }
    return false;
}
