/* Protobuf and the ONNX messages that hold tensors. Field numbers: onnx.proto. */
#include "compiler/export/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/import/tensor_pb.h"

static void varint(struct hd_buf *b, uint64_t v) {
    unsigned char p[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) p[n++] = (unsigned char)(v | 0x80);
    p[n++] = (unsigned char)v;
    hd_buf_put(b, p, n);
}

static void tag(struct hd_buf *b, int field, unsigned wire) {
    varint(b, (uint64_t)field << 3 | wire);
}

void hd_proto_int(struct hd_buf *b, int field, int64_t v) {
    tag(b, field, 0);
    varint(b, (uint64_t)v);
}

void hd_proto_float(struct hd_buf *b, int field, float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    tag(b, field, 5);
    hd_buf_u32(b, bits);
}

void hd_proto_bytes(struct hd_buf *b, int field, const void *data, size_t bytes) {
    tag(b, field, 2);
    varint(b, bytes);
    if (bytes) hd_buf_put(b, data, bytes);
}

void hd_proto_str(struct hd_buf *b, int field, const char *s) {
    hd_proto_bytes(b, field, s, strlen(s));
}

void hd_proto_message(struct hd_buf *b, int field, struct hd_buf *message) {
    hd_proto_bytes(b, field, message->data, message->n);
    hd_buf_free(message);
    *message = (struct hd_buf){0};
}

void hd_proto_tensor(struct hd_buf *b, int field, const struct hd_tensor *t, const char *name) {
    struct hd_buf m = {0};
    for (int i = 0; i < t->rank; i++) hd_proto_int(&m, 1, t->dim[i]);
    hd_proto_int(&m, 2, hd_dtype_to_onnx(t->dtype));
    if (name) hd_proto_str(&m, 8, name);
    struct hd_tensor_pb raw = {.dtype = t->dtype, .bytes = hd_tensor_bytes(t)};
    size_t bytes = hd_tensor_pb_file_bytes(&raw);
    uint8_t *packed = hd_dtype_bits(t->dtype) < 8 ? calloc(bytes + 1, 1) : NULL;
    if (packed) hd_tensor_pb_pack(t->dtype, t->data, raw.bytes, packed);
    hd_proto_bytes(&m, 9, packed ? packed : t->data, bytes);
    free(packed);
    hd_proto_message(b, field, &m);
}

void hd_proto_value(struct hd_buf *b, int field, const struct hd_tensor *t,
                    const struct hd_tensor *other, const char *const *names) {
    struct hd_buf value = {0}, type = {0}, tensor = {0}, shape = {0};
    for (int i = 0; i < t->rank; i++) {
        struct hd_buf dim = {0};
        char name[128];
        const char *given = names ? names[i] : NULL;
        snprintf(name, sizeof name, "%s_%d", t->name, i);
        if (other && other->dim[i] != t->dim[i])
            hd_proto_str(&dim, 2, given ? given : name);
        else
            hd_proto_int(&dim, 1, t->dim[i]);
        hd_proto_message(&shape, 1, &dim);
    }
    hd_proto_int(&tensor, 1, hd_dtype_to_onnx(t->dtype));
    if (t->known) hd_proto_message(&tensor, 2, &shape);
    hd_proto_message(&type, 1, &tensor);
    hd_proto_str(&value, 1, t->name);
    hd_proto_message(&value, 2, &type);
    hd_proto_message(b, field, &value);
    hd_buf_free(&shape);
}
