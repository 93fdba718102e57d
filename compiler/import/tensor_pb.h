/* TensorProto: the constants of an ONNX model, and the files of its test data sets (input_0.pb). */
#ifndef HD_IMPORT_TENSOR_PB_H
#define HD_IMPORT_TENSOR_PB_H

#include "compiler/ir/ir.h"

struct hd_tensor_pb {
    const char *name;
    hd_dtype dtype;
    int rank;
    int64_t dim[HD_MAX_RANK];
    const void *data; /* dense, aligned to the element */
    size_t bytes;
    const char *location; /* not NULL: data is NULL and lies in this file, at `offset` */
    uint64_t offset, length;
    bool has_length;
};

/* Parses one serialized TensorProto. Strings are copied to the arena; so is the data, unless borrow
 * is set and it lies aligned in the message (then *out points into it). `what` names it in
 * messages; NULL = by the tensor's own name. Data in another file is left to the caller. */
hd_status hd_tensor_pb_parse(hd_ctx *ctx, const char *what, const void *message, size_t bytes,
                             bool borrow, hd_arena *arena, struct hd_tensor_pb *out);

/* Bytes that the data of t take in a file: less than t->bytes where elements are below a byte. */
size_t hd_tensor_pb_file_bytes(const struct hd_tensor_pb *t);
/* Elements below a byte, n of them: a byte each (copied to the arena), and back (`to` is zeroed).
 */
const void *hd_tensor_pb_unpack(hd_dtype t, const uint8_t *from, size_t n, hd_arena *arena);
void hd_tensor_pb_pack(hd_dtype t, const uint8_t *from, size_t n, uint8_t *to);

/* One file, which holds its data itself. Errors: HD_IO, HD_INVALID, HD_UNSUPPORTED. */
hd_status hd_tensor_pb_read(hd_ctx *ctx, const char *path, hd_arena *arena,
                            struct hd_tensor_pb *out);
hd_status hd_tensor_pb_write(hd_ctx *ctx, const char *path, const struct hd_tensor_pb *t);

#endif
