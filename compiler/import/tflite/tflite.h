/* Private to compiler/import/tflite: the parsed parts of a model, and the state of one import. */
#ifndef HD_IMPORT_TFLITE_H
#define HD_IMPORT_TFLITE_H

#include "compiler/import/import.h"
#include "compiler/import/tflite/flatbuffer.h"

/* TensorType of the schema, as far as it is read. */
enum hd_tfl_type {
    HD_TFL_F32 = 0,
    HD_TFL_F16 = 1,
    HD_TFL_I32 = 2,
    HD_TFL_U8 = 3,
    HD_TFL_I64 = 4,
    HD_TFL_BOOL = 6,
    HD_TFL_I16 = 7,
    HD_TFL_I8 = 9,
    HD_TFL_F64 = 10,
    HD_TFL_U64 = 12,
    HD_TFL_RESOURCE = 13,
    HD_TFL_U32 = 15,
    HD_TFL_U16 = 16,
    HD_TFL_I4 = 17,
    HD_TFL_BF16 = 18
};

struct hd_tfl_tensor {
    const char *name;
    int type; /* enum hd_tfl_type, or another of the schema */
    int ir;   /* hd_dtype of its values in the graph, -1 = none */
    int rank; /* -1: the file says nothing */
    int64_t dim[HD_MAX_RANK];
    bool open[HD_MAX_RANK]; /* inputs: any size will do */
    const uint8_t *data;    /* of a constant, in the file */
    size_t bytes;
    bool variable, sparse;
    /* Quantisation: value = scale * (q - zero); n_scales = 0: none. */
    float *scale;
    int64_t *zero;
    uint32_t n_scales;
    int axis;
    int raw, real; /* tensors of the graph: as stored, and dequantised; -1 = not yet */
};

struct hd_tfl_op {
    int code;
    const char *name; /* of the code, or of the custom operation */
    const char *node; /* name for nodes */
    const int *in, *out;
    uint32_t n_in, n_out;
    struct hd_fb_table options;
    struct hd_fb_vector custom; /* options of a custom operation, bytes */
};

struct hd_tfl_graph {
    const char *name;
    struct hd_tfl_tensor *tensors;
    struct hd_tfl_op *ops;
    const int *inputs, *outputs;
    uint32_t n_tensors, n_ops, n_inputs, n_outputs;
};

struct hd_tfl_state { /* a value that lives from run to run: an input and an output of the graph */
    const char *name;
    int input, now; /* tensors; -1 = not read yet */
    int initial;    /* a constant; -1 = zero */
};

struct hd_tfl {
    hd_ctx *ctx;
    hd_graph *g, *network; /* in work: the network, or a branch or body of it */
    hd_arena *arena;
    struct hd_fb fb;
    const struct hd_source *from;
    struct hd_tfl_graph *graphs; /* of the file; 0 is the network */
    uint32_t n_graphs;
    struct hd_tfl_graph *at;    /* in work */
    const struct hd_tfl_op *op; /* in work */
    struct hd_tfl_state *states;
    size_t n_states, cap_states;
    int depth;      /* of calls */
    bool once;      /* in CALL_ONCE: what is assigned is the initial value */
    uint64_t rows;  /* tensors and operations of subgraphs, each time that one is called */
    uint64_t items; /* of lists that have been copied */
};

/* ---- tflite_parse.c ---- */
hd_status hd_tfl_parse(struct hd_tfl *m);

/* ---- tflite_graph.c ---- */
/* The nodes of graph m->at. */
hd_status hd_tfl_body(struct hd_tfl *m);

/* ---- tflite_build.c: building blocks ---- */

hd_status hd_tfl_bad(struct hd_tfl *m, hd_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Operand and result i of the operation in work; NULL = left out. */
struct hd_tfl_tensor *hd_tfl_in(struct hd_tfl *m, uint32_t i);
struct hd_tfl_tensor *hd_tfl_out(struct hd_tfl *m, uint32_t i);
/* The shape of an operand's value in the graph. */
const struct hd_tensor *hd_tfl_shape(struct hd_tfl *m, const struct hd_tfl_tensor *t);
bool hd_tfl_quantised(const struct hd_tfl_tensor *t);
bool hd_tfl_same_scale(const struct hd_tfl_tensor *a, const struct hd_tfl_tensor *b);

/* A new node with one result of its own: *out. done: shapes are inferred; else the caller sets
 * attributes and calls hd_tfl_done. */
int hd_tfl_node(struct hd_tfl *m, enum hd_ir_op op, int n_in, const int *in, int *out);
hd_status hd_tfl_done(struct hd_tfl *m, int node);
hd_status hd_tfl_emit(struct hd_tfl *m, enum hd_ir_op op, int n_in, const int *in, int *out);
int hd_tfl_const(struct hd_tfl *m, hd_dtype t, int rank, const int64_t *dim, const void *data);
int hd_tfl_ints(struct hd_tfl *m, int n, const int64_t *v);
int hd_tfl_float_const(struct hd_tfl *m, float v);
hd_status hd_tfl_transpose(struct hd_tfl *m, int x, int rank, const int64_t *perm, int *out);
hd_status hd_tfl_reshape(struct hd_tfl *m, int x, int rank, const int64_t *dim, int *out);
hd_status hd_tfl_cast_to(struct hd_tfl *m, int x, hd_dtype to, int *out);
hd_status hd_tfl_binary(struct hd_tfl *m, enum hd_ir_op op, int a, int b, int *out);
hd_status hd_tfl_clip(struct hd_tfl *m, int x, float lo, float hi, int *out);

/* Operand t as stored; as float, dequantised when it is quantised. */
hd_status hd_tfl_raw(struct hd_tfl *m, struct hd_tfl_tensor *t, int *out);
hd_status hd_tfl_real(struct hd_tfl *m, struct hd_tfl_tensor *t, int *out);
/* dequantize(x) by the scales of t, along `axis`. */
hd_status hd_tfl_dequantize(struct hd_tfl *m, const struct hd_tfl_tensor *t, int x, int axis,
                            int *out);
hd_status hd_tfl_quantize(struct hd_tfl *m, const struct hd_tfl_tensor *t, int x, int *out);
/* The value of a result: as stored; or float, which is quantised when t is. */
void hd_tfl_set_raw(struct hd_tfl *m, struct hd_tfl_tensor *t, int value);
hd_status hd_tfl_set_real(struct hd_tfl *m, struct hd_tfl_tensor *t, int value);
/* The same behind a fused activation, by its number in the schema. */
hd_status hd_tfl_set_activated(struct hd_tfl *m, struct hd_tfl_tensor *t, int value,
                               int64_t activation);
hd_status hd_tfl_activate(struct hd_tfl *m, int x, int64_t activation, int *out);

/* An operand that must be constant integers: *n of them, at most max. */
hd_status hd_tfl_int_list(struct hd_tfl *m, uint32_t i, int64_t *out, int max, int *n);
hd_status hd_tfl_axis(struct hd_tfl *m, int64_t axis, int rank, int64_t *out);
/* NHWC -> NCHW and back, of any rank from 3. */
hd_status hd_tfl_channels_first(struct hd_tfl *m, int x, int *out);
hd_status hd_tfl_channels_last(struct hd_tfl *m, int x, int *out);
int64_t hd_tfl_option(struct hd_tfl *m, int field, int bytes, int64_t def);

/* ---- tflite_state.c ---- */
/* The name of a variable tensor's state: those of the file are not unique. */
const char *hd_tfl_variable(struct hd_tfl *m, const struct hd_tfl_tensor *t);
/* The value that a variable tensor, or a resource of this name, has now. */
hd_status hd_tfl_state_read(struct hd_tfl *m, const char *name, const struct hd_tfl_tensor *t,
                            int *out);
hd_status hd_tfl_state_write(struct hd_tfl *m, const char *name, const struct hd_tfl_tensor *t,
                             int value);
/* States become the last inputs and the last outputs, in the same order. */
hd_status hd_tfl_state_finish(struct hd_tfl *m);

#endif
