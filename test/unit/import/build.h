/* A small writer of ONNX models in memory, so that import tests need no files. */
#ifndef HD_TEST_IMPORT_BUILD_H
#define HD_TEST_IMPORT_BUILD_H

#include <stdint.h>
#include <string.h>

struct msg { /* one protobuf message under construction */
    uint8_t b[8192];
    size_t n;
};

static inline void put_varint(struct msg *m, uint64_t v) {
    for (; v >= 0x80; v >>= 7) m->b[m->n++] = (uint8_t)(v | 0x80);
    m->b[m->n++] = (uint8_t)v;
}

static inline void put_int(struct msg *m, unsigned field, int64_t v) {
    put_varint(m, field << 3);
    put_varint(m, (uint64_t)v);
}

static inline void put_bytes(struct msg *m, unsigned field, const void *data, size_t n) {
    put_varint(m, field << 3 | 2);
    put_varint(m, n);
    if (n) memcpy(m->b + m->n, data, n);
    m->n += n;
}

static inline void put_str(struct msg *m, unsigned field, const char *s) {
    put_bytes(m, field, s, strlen(s));
}
static inline void put_msg(struct msg *m, unsigned field, const struct msg *sub) {
    put_bytes(m, field, sub->b, sub->n);
}

/* ValueInfoProto; a dimension of -1 has no number. */
static inline void put_value(struct msg *graph, unsigned field, const char *name, int type,
                             int rank, const int64_t *dim) {
    struct msg shape = {.n = 0}, tensor = {.n = 0}, tp = {.n = 0}, v = {.n = 0};
    for (int i = 0; i < rank; i++) {
        struct msg d = {.n = 0};
        if (dim[i] == -1)
            put_str(&d, 2, "batch");
        else
            put_int(&d, 1, dim[i]);
        put_msg(&shape, 1, &d);
    }
    put_int(&tensor, 1, type);
    put_msg(&tensor, 2, &shape);
    put_msg(&tp, 1, &tensor);
    put_str(&v, 1, name);
    put_msg(&v, 2, &tp);
    put_msg(graph, field, &v);
}

/* TensorProto with raw_data. */
static inline struct msg tensor_msg(const char *name, int type, int rank, const int64_t *dim,
                                    const void *data, size_t bytes) {
    struct msg t = {.n = 0};
    for (int i = 0; i < rank; i++) put_int(&t, 1, dim[i]);
    put_int(&t, 2, type);
    put_str(&t, 8, name);
    put_bytes(&t, 9, data, bytes);
    return t;
}

static inline struct msg node_msg(const char *op, const char *in0, const char *in1, const char *in2,
                                  const char *out) {
    struct msg n = {.n = 0};
    if (in0) put_str(&n, 1, in0);
    if (in1) put_str(&n, 1, in1);
    if (in2) put_str(&n, 1, in2);
    put_str(&n, 2, out);
    put_str(&n, 3, "node");
    put_str(&n, 4, op);
    return n;
}

static inline void attr_ints(struct msg *node, const char *name, int n, const int64_t *v) {
    struct msg a = {.n = 0};
    put_str(&a, 1, name);
    for (int i = 0; i < n; i++) put_int(&a, 8, v[i]);
    put_int(&a, 20, 7);
    put_msg(node, 5, &a);
}

static inline void attr_int(struct msg *node, const char *name, int64_t v) {
    struct msg a = {.n = 0};
    put_str(&a, 1, name);
    put_int(&a, 3, v);
    put_int(&a, 20, 2);
    put_msg(node, 5, &a);
}

static inline void attr_float(struct msg *node, const char *name, float v) {
    struct msg a = {.n = 0};
    put_str(&a, 1, name);
    put_varint(&a, 2 << 3 | 5);
    memcpy(a.b + a.n, &v, 4);
    a.n += 4;
    put_int(&a, 20, 1);
    put_msg(node, 5, &a);
}

static inline void attr_str(struct msg *node, const char *name, const char *v) {
    struct msg a = {.n = 0};
    put_str(&a, 1, name);
    put_str(&a, 4, v);
    put_int(&a, 20, 3);
    put_msg(node, 5, &a);
}

static inline struct msg model_msg(const struct msg *graph, int64_t opset) {
    struct msg m = {.n = 0}, o = {.n = 0};
    put_int(&m, 1, 8);
    put_msg(&m, 7, graph);
    put_int(&o, 2, opset);
    put_msg(&m, 8, &o);
    return m;
}

#endif
