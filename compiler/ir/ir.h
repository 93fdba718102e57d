/* Graph IR: tensors, nodes, attributes. Built by the importer, rewritten by passes, executed by
 * golden, lowered by the back end. A graph owns everything in it through its arena; ids are indexes
 * and stay valid for the life of the graph (removed nodes are marked dead, not compacted).
 *
 *   hd_graph *g = hd_graph_create();
 *   int x = hd_graph_tensor(g, "x", HD_I8, 4, (int64_t[]){1, 3, 32, 32});
 *   int y = hd_graph_tensor(g, "y", HD_I8, 0, NULL);              // shape comes from
 * hd_graph_infer int n = hd_graph_node(g, HD_IR_relu, "act", 1, &x, 1, &y); hd_graph_input(g, x);
 * hd_graph_output(g, y); TRY(hd_graph_infer(ctx, g));  TRY(hd_graph_verify(ctx, g));
 *   hd_graph_destroy(g);
 */
#ifndef HD_IR_IR_H
#define HD_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

enum {
    HD_MAX_RANK = 8,
    HD_MAX_OPERANDS = 1024, /* inputs of a node, and outputs */
    HD_MAX_SCANS = 64,      /* scanned operands, and results, of a scan */
    HD_MAX_NESTING = 16     /* graphs in attributes of nodes of graphs in ... */
};

typedef struct hd_graph hd_graph;

enum hd_ir_op {
#define OP(name, ...) HD_IR_##name,
#include "compiler/ir/ops.def"
    HD_IR_OPS
};

struct hd_ir_op_info {
    const char *name, *doc;
    int min_in, max_in, max_out;
};
extern const struct hd_ir_op_info hd_ir_ops[HD_IR_OPS];
int hd_ir_op_by_name(const char *name); /* -1 when unknown */

struct hd_tensor {
    const char *name; /* unique in the graph */
    hd_dtype dtype;
    int rank; /* 0..HD_MAX_RANK; 0 = scalar */
    int64_t dim[HD_MAX_RANK];
    bool known;            /* dtype and shape are set; false: they depend on values of the run */
    int axis[HD_MAX_RANK]; /* of each dimension: id + 1 in the graph's axes, 0 = without a name */
    const void
        *data; /* constant: dense little-endian values, owned by the graph (or the mapped file) */
    /* Variable: its value before the first run; data is NULL then. Inputs that have one are state:
     * they are the last inputs, and the last outputs are what they are in the next run. */
    const void *initial;
    int producer; /* node id, -1 for inputs and constants */
};

enum hd_attr_kind {
    HD_ATTR_INT,
    HD_ATTR_FLOAT,
    HD_ATTR_INTS,
    HD_ATTR_FLOATS,
    HD_ATTR_STRING,
    HD_ATTR_GRAPH
};

struct hd_attr {
    const char *name;
    enum hd_attr_kind kind;
    int64_t i;
    float f; /* printed so that it reads back exactly */
    const char *s;
    const int64_t *ints;
    const float *floats;
    hd_graph *graph; /* a branch or loop body; belongs to the graph of the node */
    int n;           /* of ints or floats */
};

struct hd_node {
    const char *name; /* unique, from the file or made from the op */
    enum hd_ir_op op;
    bool dead;
    int n_in, n_out;
    int *in;  /* tensor ids, -1 = optional input left out */
    int *out; /* tensor ids, -1 = an output that nobody wants; all of them may be */
    struct hd_attr *attrs;
    int n_attrs;
    int *after; /* nodes that run before this one, though it reads nothing of theirs */
    int n_after;
    int source; /* line in the graph's list of source names (see hd_graph_source), -1 = none */
};

struct hd_axis { /* the same axis wherever it appears: one name, one length */
    const char *name;
    int64_t length;
};

struct hd_names { /* index of names, private to graph.c */
    int *slot;
    size_t n, cap;
};

struct hd_graph { /* read the fields freely; change them through the functions below */
    hd_arena *arena;
    const char *name;
    struct hd_tensor *tensors;
    size_t n_tensors, cap_tensors;
    struct hd_node *nodes; /* any order; hd_graph_order gives a topological one */
    size_t n_nodes, cap_nodes;
    int *inputs, *outputs;
    size_t n_inputs, cap_inputs, n_outputs, cap_outputs;
    struct hd_axis *axes;
    size_t n_axes, cap_axes;
    hd_graph **subgraphs; /* every graph that an attribute has held */
    size_t n_subgraphs, cap_subgraphs;
    int scales_found;   /* tensors without a scale in the file that completion gave one */
    const char *closed; /* open dimensions of the file and the sizes that they got; NULL = none */
    const int *open;    /* those: input * HD_MAX_RANK + dimension */
    const char *const *open_name; /* their names in the file, or NULL */
    int n_open;
    bool specialised; /* some shapes depend on input values and are those of one run */
    void *file;       /* keeps a mapped file alive; freed by file_free */
    void (*file_free)(void *file);
    struct hd_names tensor_names, node_names;
};

hd_graph *hd_graph_create(void);
void hd_graph_destroy(hd_graph *g);

/* Builders: names are copied and made unique by a suffix when taken. Return ids. */
int hd_graph_tensor(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim);
int hd_graph_const(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim,
                   const void *data);                                         /* copies data */
int hd_graph_const_f32(hd_graph *g, const char *name, int n, const float *v); /* rank 1 */
int hd_graph_const_i32(hd_graph *g, const char *name, int n, const int32_t *v);
int hd_graph_node(hd_graph *g, enum hd_ir_op op, const char *name, int n_in, const int *in,
                  int n_out, const int *out);
/* Named axes (rules: compiler/ir/axes.h). The id of an axis, new or known; -1 when it has another
 * length. set_axis: dimension `dim` of a tensor is this axis; -1 takes the name away. lower: nodes
 * with by="name" become positional ones. */
int hd_graph_axis(hd_graph *g, const char *name, int64_t length);
void hd_tensor_set_axis(hd_graph *g, int tensor, int dim, int axis);
hd_status hd_axes_lower(hd_ctx *ctx, hd_graph *g);
/* A value that lives from run to run; `assign` changes it. */
int hd_graph_variable(hd_graph *g, const char *name, hd_dtype t, int rank, const int64_t *dim,
                      const void *initial); /* copies it */
/* Control dependency: `before` runs before `node`. */
void hd_graph_after(hd_graph *g, int node, int before);
void hd_graph_input(hd_graph *g, int tensor);
void hd_graph_output(hd_graph *g, int tensor);

void hd_attr_set_int(hd_graph *g, int node, const char *name, int64_t v);
void hd_attr_set_float(hd_graph *g, int node, const char *name, float v);
void hd_attr_set_ints(hd_graph *g, int node, const char *name, int n, const int64_t *v);
void hd_attr_set_floats(hd_graph *g, int node, const char *name, int n, const float *v);
void hd_attr_set_string(hd_graph *g, int node, const char *name, const char *v);
/* g takes v over and destroys it with itself. */
void hd_attr_set_graph(hd_graph *g, int node, const char *name, hd_graph *v);
void hd_attr_remove(hd_graph *g, int node, const char *name);                 /* absent is fine */
const struct hd_attr *hd_attr_get(const struct hd_node *n, const char *name); /* NULL = absent */
int64_t hd_attr_int(const struct hd_node *n, const char *name, int64_t def);
float hd_attr_float(const struct hd_node *n, const char *name, float def);
const char *hd_attr_string(const struct hd_node *n, const char *name, const char *def);
hd_graph *hd_attr_graph(const struct hd_node *n, const char *name); /* NULL = absent */
/* Copies up to `max` ints to out; fills with def when absent; returns the count found. */
int hd_attr_ints(const struct hd_node *n, const char *name, int64_t *out, int max, int64_t def);

/* "f32[1,3,224,224]" or "unknown", written to out, which is returned. */
enum { HD_SHAPE_TEXT = 192 };
const char *hd_shape_text(const struct hd_tensor *t, char out[HD_SHAPE_TEXT]);
int64_t hd_tensor_elems(const struct hd_tensor *t);
bool hd_same_shape(const struct hd_tensor *a, const struct hd_tensor *b);
size_t hd_tensor_bytes(const struct hd_tensor *t);
int hd_tensor_by_name(const hd_graph *g, const char *name); /* -1 = none */
int hd_node_by_name(const hd_graph *g, const char *name);   /* live or dead; -1 = none */

/* Live node ids in topological order (stable: by position in the file among ready ones); *out has
 * n_nodes room. Returns the count; a cycle is caught by verify. */
size_t hd_graph_order(const hd_graph *g, int *out);
/* Nodes get new ids: the n live ones in this topological order, so hd_graph_order gives it as long
 * as no node is added; dead ones behind. */
void hd_graph_arrange(hd_graph *g, const int *order, size_t n);
/* Nodes that read tensor t: fills up to max ids, returns the true count. */
size_t hd_graph_users(const hd_graph *g, int tensor, int *out, size_t max);
/* All of them; the list is the arena's. */
int *hd_graph_all_users(const hd_graph *g, int tensor, hd_arena *a, size_t *out_n);
/* Pixels of y for each one of image x, of which a window makes it; 1 where there are more, or y is
 * no image. */
double hd_pixels_left(const hd_graph *g, int x, int y);
/* What t is in another shape, behind any number of reshapes; t where there is none. */
int hd_graph_unshaped(const hd_graph *g, int t);
/* Elementwise, on two tensors of bytes: a row of qpair.def. */
bool hd_is_pair(enum hd_ir_op op);
/* The only node that reads tensor t, which is no result of the graph; -1 = none, or several. */
int hd_graph_only_user(const hd_graph *g, int tensor);
bool hd_graph_is_input(const hd_graph *g, int tensor);
bool hd_graph_is_output(const hd_graph *g, int tensor);
size_t hd_graph_n_states(const hd_graph *g); /* 0 where outputs are not their next values */
int hd_graph_state_before(const hd_graph *g, int tensor); /* its last value, an input; -1 = none */
void hd_graph_replace(hd_graph *g, int old_tensor,
                      int new_tensor); /* in all inputs and graph outputs */
void hd_graph_kill(hd_graph *g, int node);
void hd_graph_swap_names(hd_graph *g, int node_a,
                         int node_b); /* so that a replacement keeps the name */
void hd_graph_swap_tensor_names(hd_graph *g, int tensor_a, int tensor_b);

/* Limit on one tensor, checked before anything is allocated for it. */
#define HD_MAX_TENSOR_BYTES (INT64_C(1) << 31)
/* HD_OK when rank and dims are sane and the tensor is within the limit; "what" names it in the
 * message. */
hd_status hd_shape_check(hd_ctx *ctx, const char *what, hd_dtype t, int rank, const int64_t *dim);

/* Sets dtype and shape of one node's outputs, and resolves attributes auto_pad and global of
 * windows. Outputs stay unknown when an input is unknown, or when the shape depends on values that
 * are not constant. */
hd_status hd_graph_infer_node(hd_ctx *ctx, hd_graph *g, int node);
/* The same for every node, in order. Errors name node, op, got and allowed. */
hd_status hd_graph_infer(hd_ctx *ctx, hd_graph *g);
/* Checks: ids, arity, single producer, acyclic, shapes agree with infer, attributes sane, and the
 * same for graphs in attributes. */
hd_status hd_graph_verify(hd_ctx *ctx, const hd_graph *g);

/* Text form (docs/ir.md). Constants above 16 values are printed as a hash unless full is set. */
hd_status hd_graph_print(hd_ctx *ctx, const hd_graph *g, bool full, FILE *out);
void hd_node_print(const hd_graph *g, int node, FILE *out); /* its line of that */
hd_status hd_graph_parse(hd_ctx *ctx, const char *text, const char *name, hd_graph **out);

/* Binary form, little endian, for the GRAPH section of a model. *out is malloc'd. Read checks every
 * bound, then verifies; constants stay in data, which outlives the graph. */
hd_status hd_graph_save(hd_ctx *ctx, const hd_graph *g, void **out, size_t *out_bytes);
hd_status hd_graph_load(hd_ctx *ctx, const void *data, size_t bytes, hd_graph **out);
/* A copy with the same ids. */
hd_status hd_graph_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out);
/* Which sizes the file of g left open, which is no part of the saved form. */
void hd_graph_copy_open(const hd_graph *g, hd_graph *to);

/* The network's own multiply-accumulates of a node (conv, gemm, matmul and their q forms), never
 * padding. */
int64_t hd_node_macs(const hd_graph *g, const struct hd_node *n);

#endif
