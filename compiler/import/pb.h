/* Protobuf wire format, read in place: no copy, no allocation, no recursion.
 *
 *   struct hd_pb r = hd_pb_open(data, bytes);
 *   struct hd_pb_field f;
 *   while (hd_pb_next(&r, &f))
 *       if (f.number == 7 && f.wire == HD_PB_BYTES) { struct hd_pb sub = hd_pb_open(f.data,
 * f.bytes); ... } if (r.bad) ... the bytes are not protobuf; r.at tells where
 */
#ifndef HD_IMPORT_PB_H
#define HD_IMPORT_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hd_pb_wire { HD_PB_VARINT = 0, HD_PB_FIXED64 = 1, HD_PB_BYTES = 2, HD_PB_FIXED32 = 5 };

struct hd_pb {
    const uint8_t *p, *end;
    const char *bad; /* what was wrong; NULL = nothing yet */
};

struct hd_pb_field {
    uint32_t number;
    enum hd_pb_wire wire;
    uint64_t value;      /* VARINT, FIXED32, FIXED64 */
    const uint8_t *data; /* BYTES */
    size_t bytes;
};

struct hd_pb hd_pb_open(const void *data, size_t bytes);
/* False at the end or when the bytes are malformed (r->bad says why). */
bool hd_pb_next(struct hd_pb *r, struct hd_pb_field *out);
bool hd_pb_varint(struct hd_pb *r, uint64_t *out);

/* A repeated number field: one element when not packed, all of them when packed. Calls append the
 * count; `out` may be NULL to count only; at most `max` are written. False when malformed. */
bool hd_pb_numbers(const struct hd_pb_field *f, enum hd_pb_wire element, uint64_t *out, size_t max,
                   size_t *inout_n);

float hd_pb_f32(uint64_t bits);
double hd_pb_f64(uint64_t bits);

#endif
