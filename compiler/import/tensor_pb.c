/* TensorProto reader and writer. */
#include "compiler/import/tensor_pb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/import/pb.h"
#include "runtime/base/io.h"
#include "runtime/base/memory.h"

/* Numbers of fields, onnx.proto message TensorProto. */
enum {
    F_DIMS = 1,
    F_TYPE = 2,
    F_SEGMENT = 3,
    F_FLOAT = 4,
    F_INT32 = 5,
    F_STRING = 6,
    F_INT64 = 7,
    F_NAME = 8,
    F_RAW = 9,
    F_DOUBLE = 10,
    F_UINT64 = 11,
    F_EXTERNAL = 13,
    F_LOCATION = 14
};

struct raw_tensor {
    const uint8_t *raw;
    size_t raw_bytes;
    bool has_raw, external;
    uint32_t typed; /* number of the typed data field seen, 0 = none */
    size_t n_typed;
};

static enum hd_pb_wire element_wire(uint32_t field) {
    return field == F_FLOAT ? HD_PB_FIXED32 : field == F_DOUBLE ? HD_PB_FIXED64 : HD_PB_VARINT;
}

/* The typed field in which onnx.proto keeps values of this type. */
static uint32_t field_of(hd_dtype t) {
    switch (t) {
    case HD_F32:
        return F_FLOAT;
    case HD_F64:
        return F_DOUBLE;
    case HD_I64:
        return F_INT64;
    case HD_U32:
    case HD_U64:
        return F_UINT64;
    default:
        return F_INT32;
    }
}

static hd_status read_dims(hd_ctx *ctx, const char *what, const struct hd_pb_field *f,
                           struct hd_tensor_pb *out) {
    uint64_t dims[HD_MAX_RANK + 1];
    size_t n = 0;
    if (!hd_pb_numbers(f, HD_PB_VARINT, dims, HD_MAX_RANK + 1, &n))
        return hd_fail(ctx, HD_INVALID, "tensor '%s': damaged dimensions", what);
    if (n + (size_t)out->rank > HD_MAX_RANK)
        return hd_fail(ctx, HD_UNSUPPORTED, "tensor '%s': rank above %d", what, HD_MAX_RANK);
    for (size_t i = 0; i < n; i++) out->dim[out->rank++] = (int64_t)dims[i];
    return HD_OK;
}

/* StringStringEntryProto of external_data: location, offset, length; others say nothing of use. */
static hd_status read_external(hd_ctx *ctx, const char *what, const struct hd_pb_field *field,
                               hd_arena *arena, struct hd_tensor_pb *out) {
    struct hd_pb r = hd_pb_open(field->data, field->wire == HD_PB_BYTES ? field->bytes : 0);
    struct hd_pb_field f;
    const char *key = "", *value = "";
    while (hd_pb_next(&r, &f)) {
        if (f.number == 1 && f.wire == HD_PB_BYTES)
            key = hd_strndup(arena, (const char *)f.data, f.bytes);
        if (f.number == 2 && f.wire == HD_PB_BYTES)
            value = hd_strndup(arena, (const char *)f.data, f.bytes);
    }
    bool offset = !strcmp(key, "offset"), length = !strcmp(key, "length");
    if (!strcmp(key, "location")) out->location = value;
    if (!offset && !length) return HD_OK;
    char *end;
    errno = 0;
    uint64_t v = strtoull(value, &end, 10);
    if (*end || end == value || errno || value[0] == '-')
        return hd_fail(ctx, HD_INVALID, "tensor '%s': %s of its data is '%s', want a number", what,
                       key, value);
    *(offset ? &out->offset : &out->length) = v;
    out->has_length = out->has_length || length;
    return HD_OK;
}

static hd_status scan(hd_ctx *ctx, const char *what, const void *message, size_t bytes,
                      hd_arena *arena, struct hd_tensor_pb *out, struct raw_tensor *raw) {
    struct hd_pb r = hd_pb_open(message, bytes);
    struct hd_pb_field f;
    int onnx = 0;
    while (hd_pb_next(&r, &f)) {
        switch (f.number) {
        case F_DIMS:
            TRY(read_dims(ctx, what, &f, out));
            break;
        case F_TYPE:
            onnx = f.wire == HD_PB_VARINT && f.value < 1000 ? (int)f.value : -1;
            break;
        case F_NAME:
            if (f.wire == HD_PB_BYTES) out->name = hd_strndup(arena, (const char *)f.data, f.bytes);
            break;
        case F_RAW:
            if (f.wire != HD_PB_BYTES)
                return hd_fail(ctx, HD_INVALID, "tensor '%s': damaged raw_data", what);
            raw->raw = f.data, raw->raw_bytes = f.bytes, raw->has_raw = true;
            break;
        case F_FLOAT:
        case F_INT32:
        case F_INT64:
        case F_DOUBLE:
        case F_UINT64:
            if ((raw->typed && raw->typed != f.number) ||
                !hd_pb_numbers(&f, element_wire(f.number), NULL, 0, &raw->n_typed))
                return hd_fail(ctx, HD_INVALID, "tensor '%s': damaged data (field %u)", what,
                               f.number);
            raw->typed = f.number;
            break;
        case F_EXTERNAL:
            TRY(read_external(ctx, what, &f, arena, out));
            break;
        case F_LOCATION:
            raw->external = f.wire == HD_PB_VARINT && f.value == 1;
            break;
        case F_SEGMENT:
        case F_STRING:
            return hd_fail(ctx, HD_UNSUPPORTED, "tensor '%s': %s", what,
                           f.number == F_STRING ? "strings" : "data in segments");
        default:
            break;
        }
    }
    if (r.bad) return hd_fail(ctx, HD_INVALID, "tensor '%s': %s", what, r.bad);
    if (!raw->external)
        out->location = NULL;
    else if (!out->location || !out->location[0])
        return hd_fail(ctx, HD_INVALID, "tensor '%s': its data is in a file that is not named",
                       what);
    int t = hd_dtype_from_onnx(onnx);
    if (t < 0)
        return hd_fail(ctx, onnx > 0 ? HD_UNSUPPORTED : HD_INVALID,
                       "tensor '%s': ONNX data type %d, allowed 1..7, 9..13 and 16..26", what,
                       onnx);
    out->dtype = (hd_dtype)t;
    return HD_OK;
}

size_t hd_tensor_pb_file_bytes(const struct hd_tensor_pb *t) {
    size_t bits = (size_t)hd_dtype_bits(t->dtype);
    return bits >= 8 ? t->bytes : (t->bytes * bits + 7) / 8;
}

/* Element i lies in the low bits first. */
const void *hd_tensor_pb_unpack(hd_dtype t, const uint8_t *from, size_t n, hd_arena *arena) {
    unsigned bits = (unsigned)hd_dtype_bits(t), each = 8 / bits, mask = (1u << bits) - 1;
    unsigned sign = t == HD_I4 || t == HD_I2 ? 1u << (bits - 1) : 0;
    uint8_t *to = hd_alloc(arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        unsigned v = from[i / each] >> (i % each * bits) & mask;
        to[i] = (uint8_t)((v ^ sign) - sign);
    }
    return to;
}

void hd_tensor_pb_pack(hd_dtype t, const uint8_t *from, size_t n, uint8_t *to) {
    unsigned bits = (unsigned)hd_dtype_bits(t), each = 8 / bits, mask = (1u << bits) - 1;
    for (size_t i = 0; i < n; i++)
        to[i / each] = (uint8_t)(to[i / each] | (from[i] & mask) << (i % each * bits));
}

static void put_value(void *to, hd_dtype t, size_t i, uint64_t v) {
    memcpy((char *)to + i * hd_dtype_bytes(t), &v,
           hd_dtype_bytes(t)); /* little endian: the low bytes */
}

/* Second walk over the typed field, now that the buffer is known to be needed and large enough. */
static void *copy_typed(const void *message, size_t bytes, const struct raw_tensor *raw, hd_dtype t,
                        hd_arena *arena) {
    struct hd_pb r = hd_pb_open(message, bytes);
    struct hd_pb_field f;
    size_t n = 0;
    uint64_t *v = malloc((raw->n_typed + 1) * sizeof *v);
    HD_MEMORY(v);
    while (hd_pb_next(&r, &f))
        if (f.number == raw->typed) hd_pb_numbers(&f, element_wire(f.number), v, raw->n_typed, &n);
    void *to = hd_alloc(arena, raw->n_typed * hd_dtype_bytes(t));
    for (size_t i = 0; i < raw->n_typed; i++) put_value(to, t, i, v[i]);
    free(v);
    return to;
}

/* The values of t, from wherever the message has them. */
static hd_status take_data(hd_ctx *ctx, const char *what, const void *message, size_t bytes,
                           const struct raw_tensor *raw, bool borrow, hd_arena *arena,
                           struct hd_tensor_pb *t) {
    size_t elem = hd_dtype_bytes(t->dtype), n = t->bytes / elem,
           file_bytes = hd_tensor_pb_file_bytes(t);
    bool packed = file_bytes != t->bytes || hd_dtype_bits(t->dtype) < 8;
    size_t n_typed = packed ? file_bytes : n; /* packed ones: a value for each byte of them */
    t->data = NULL;
    if (t->location) return HD_OK;
    if (raw->has_raw) {
        if (raw->raw_bytes != file_bytes)
            return hd_fail(ctx, HD_INVALID, "tensor '%s': %zu bytes of data, its shape wants %zu",
                           what, raw->raw_bytes, file_bytes);
        bool aligned = (uintptr_t)raw->raw % elem == 0;
        t->data = packed ? hd_tensor_pb_unpack(t->dtype, raw->raw, n, arena)
                  : borrow && aligned && t->bytes ? raw->raw
                                                  : hd_dup(arena, raw->raw, t->bytes);
        return HD_OK;
    }
    if (raw->n_typed != n_typed || (n && raw->typed != field_of(t->dtype)))
        return hd_fail(ctx, HD_INVALID,
                       "tensor '%s': %zu values in field %u, its shape wants %zu in field %u", what,
                       raw->n_typed, raw->typed, n_typed, field_of(t->dtype));
    t->data = copy_typed(message, bytes, raw, t->dtype, arena);
    if (packed) t->data = hd_tensor_pb_unpack(t->dtype, t->data, n, arena);
    return HD_OK;
}

hd_status hd_tensor_pb_parse(hd_ctx *ctx, const char *what, const void *message, size_t bytes,
                             bool borrow, hd_arena *arena, struct hd_tensor_pb *out) {
    struct hd_tensor_pb t = {.name = ""};
    struct raw_tensor raw = {0};
    hd_status s = scan(ctx, what ? what : "?", message, bytes, arena, &t, &raw);
    if (!what) what = t.name;
    if (s != HD_OK) return hd_note(ctx, s, "in tensor '%s'", what);
    TRY(hd_shape_check(ctx, what, t.dtype, t.rank, t.dim));
    t.bytes = hd_dtype_bytes(t.dtype);
    for (int i = 0; i < t.rank; i++) t.bytes *= (size_t)t.dim[i];
    TRY(take_data(ctx, what, message, bytes, &raw, borrow, arena, &t));
    *out = t;
    return HD_OK;
}

hd_status hd_tensor_pb_read(hd_ctx *ctx, const char *path, hd_arena *arena,
                            struct hd_tensor_pb *out) {
    void *data;
    size_t n;
    TRY(hd_file_read(ctx, path, &data, &n));
    hd_status s = hd_tensor_pb_parse(ctx, path, data, n, false, arena, out);
    if (s == HD_OK && out->location)
        s = hd_fail(ctx, HD_UNSUPPORTED, "%s: its data is in another file; store it in this one",
                    path);
    free(data);
    return s;
}

static size_t put_varint(uint8_t *to, uint64_t v) {
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) to[n++] = (uint8_t)(v | 0x80);
    to[n++] = (uint8_t)v;
    return n;
}

static bool put_key(FILE *f, unsigned field, enum hd_pb_wire wire, uint64_t v) {
    uint8_t b[24];
    size_t n = put_varint(b, field << 3 | (unsigned)wire);
    n += put_varint(b + n, v);
    return fwrite(b, 1, n, f) == n;
}

hd_status hd_tensor_pb_write(hd_ctx *ctx, const char *path, const struct hd_tensor_pb *t) {
    FILE *f = fopen(path, "wb");
    if (!f) return hd_fail(ctx, HD_IO, "%s: %s", path, strerror(errno));
    bool ok = true;
    size_t len = t->name ? strlen(t->name) : 0;
    for (int i = 0; i < t->rank; i++)
        ok = ok && put_key(f, F_DIMS, HD_PB_VARINT, (uint64_t)t->dim[i]);
    ok = ok && put_key(f, F_TYPE, HD_PB_VARINT, (uint64_t)hd_dtype_to_onnx(t->dtype));
    if (len) ok = ok && put_key(f, F_NAME, HD_PB_BYTES, len) && fwrite(t->name, 1, len, f) == len;
    size_t bytes = hd_tensor_pb_file_bytes(t);
    uint8_t *packed = hd_dtype_bits(t->dtype) < 8 ? calloc(bytes + 1, 1) : NULL;
    if (packed) hd_tensor_pb_pack(t->dtype, t->data, t->bytes, packed);
    ok = ok && put_key(f, F_RAW, HD_PB_BYTES, bytes) &&
         (!bytes || fwrite(packed ? packed : t->data, 1, bytes, f) == bytes);
    free(packed);
    ok = fclose(f) == 0 && ok;
    return ok ? HD_OK : hd_fail(ctx, HD_IO, "%s: cannot be written: %s", path, strerror(errno));
}
