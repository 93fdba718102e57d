/* Private to compiler/import: the parsed parts of a model and the state of one import. */
#ifndef HD_IMPORT_ONNX_H
#define HD_IMPORT_ONNX_H

#include "compiler/import/pb.h"
#include "compiler/ir/ir.h"

enum { HD_ONNX_OPSET_MIN = 7, HD_ONNX_OPSET_MAX = 18 };

struct hd_slice {
    const uint8_t *data;
    size_t bytes;
};

/* One AttributeProto. Which fields are set follows from what the file holds. */
struct hd_onnx_attr {
    const char *name;
    int64_t i;
    float f;
    const char *s;
    struct hd_slice t; /* TensorProto */
    int64_t *ints;
    float *floats;
    const char **strings;
    size_t n_ints, n_floats, n_strings;
    bool has_i, has_f, has_s, has_t;
};

struct hd_onnx_node {
    const char *name, *op, *domain; /* name: the file's, or made from the op and the position */
    const char **in, **out;         /* "" = left out */
    size_t n_in, n_out, n_attrs;
    struct hd_onnx_attr *attrs;
};

struct hd_importer {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena; /* scratch: parsed nodes */
    int64_t opset;   /* of the default domain */
    bool borrow;     /* constants may point into the file */
};

/* Turns one node into IR nodes; inputs are known. */
hd_status hd_onnx_import_node(struct hd_importer *m, const struct hd_onnx_node *n);

#endif
