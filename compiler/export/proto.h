/* Protobuf wire format, written: fields are appended to a buffer, messages are made apart and put
 * in as bytes. */
#ifndef HD_EXPORT_PROTO_H
#define HD_EXPORT_PROTO_H

#include "compiler/ir/ir.h"
#include "runtime/base/io.h"

void hd_proto_int(struct hd_buf *b, int field, int64_t v);
void hd_proto_float(struct hd_buf *b, int field, float v);
void hd_proto_bytes(struct hd_buf *b, int field, const void *data, size_t bytes);
void hd_proto_str(struct hd_buf *b, int field, const char *s);
void hd_proto_message(struct hd_buf *b, int field, struct hd_buf *message); /* and frees it */

/* TensorProto of constant data; name NULL = none. */
void hd_proto_tensor(struct hd_buf *b, int field, const struct hd_tensor *t, const char *name);
/* ValueInfoProto: name, type and shape. Sizes in which `other` differs are open (NULL: none is);
 * their names, rank of them, where they have one (NULL: no names). */
void hd_proto_value(struct hd_buf *b, int field, const struct hd_tensor *t,
                    const struct hd_tensor *other, const char *const *names);

#endif
