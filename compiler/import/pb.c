/* Protobuf wire format: bounds-checked reader. */
#include "compiler/import/pb.h"

#include <string.h>

struct hd_pb hd_pb_open(const void *data, size_t bytes) {
    const uint8_t *p = data;
    return (struct hd_pb){.p = p, .end = bytes ? p + bytes : p};
}

static bool fail(struct hd_pb *r, const char *why) {
    r->bad = why;
    return false;
}

bool hd_pb_varint(struct hd_pb *r, uint64_t *out) {
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (r->p == r->end) return fail(r, "a number is cut short");
        uint8_t b = *r->p++;
        if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
        if (b & 0x80) continue;
        *out = v;
        return true;
    }
    return fail(r, "a number has more than 10 bytes");
}

static bool fixed(struct hd_pb *r, size_t bytes, uint64_t *out) {
    if ((size_t)(r->end - r->p) < bytes) return fail(r, "a fixed-size number is cut short");
    *out = 0;
    for (size_t i = 0; i < bytes; i++) *out |= (uint64_t)r->p[i] << (8 * i);
    r->p += bytes;
    return true;
}

bool hd_pb_next(struct hd_pb *r, struct hd_pb_field *out) {
    uint64_t key;
    if (r->bad || r->p == r->end || !hd_pb_varint(r, &key)) return false;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) return fail(r, "a field has no valid number");
    *out = (struct hd_pb_field){.number = (uint32_t)(key >> 3), .wire = (enum hd_pb_wire)(key & 7)};
    switch (key & 7) {
    case HD_PB_VARINT:
        return hd_pb_varint(r, &out->value);
    case HD_PB_FIXED64:
        return fixed(r, 8, &out->value);
    case HD_PB_FIXED32:
        return fixed(r, 4, &out->value);
    case HD_PB_BYTES: {
        uint64_t n;
        if (!hd_pb_varint(r, &n)) return false;
        if (n > (uint64_t)(r->end - r->p))
            return fail(r, "a field is longer than what is left of the file");
        out->data = r->p;
        out->bytes = (size_t)n;
        r->p += n;
        return true;
    }
    default:
        return fail(r, "a field has an unknown wire type");
    }
}

bool hd_pb_numbers(const struct hd_pb_field *f, enum hd_pb_wire element, uint64_t *out, size_t max,
                   size_t *inout_n) {
    if (f->wire != HD_PB_BYTES) {
        if (f->wire != element) return false;
        if (out && *inout_n < max) out[*inout_n] = f->value;
        ++*inout_n;
        return true;
    }
    struct hd_pb r = hd_pb_open(f->data, f->bytes);
    while (r.p != r.end) {
        uint64_t v;
        size_t bytes = element == HD_PB_FIXED32 ? 4 : 8;
        if (element == HD_PB_VARINT ? !hd_pb_varint(&r, &v) : !fixed(&r, bytes, &v)) return false;
        if (out && *inout_n < max) out[*inout_n] = v;
        ++*inout_n;
    }
    return true;
}

float hd_pb_f32(uint64_t bits) {
    uint32_t b = (uint32_t)bits;
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}

double hd_pb_f64(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
