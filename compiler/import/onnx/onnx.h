/* Private to compiler/import/onnx: the parsed parts of a model and the state of one import. */
#ifndef HD_IMPORT_ONNX_H
#define HD_IMPORT_ONNX_H

#include "compiler/import/mapping.h"
#include "compiler/import/network.h"
#include "compiler/import/pb.h"
#include "compiler/import/tensor_pb.h"
#include "compiler/ir/ir.h"

enum { HD_ONNX_OPSET_MAX = 26 }; /* the newest that was read when this was written */

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
    struct hd_slice t, g; /* TensorProto, GraphProto */
    int64_t *ints;
    float *floats;
    const char **strings;
    size_t n_ints, n_floats, n_strings;
    bool has_i, has_f, has_s, has_t, has_g;
};

struct hd_onnx_node {
    const char *name, *op, *domain; /* name: the file's, or made from the op and the position */
    const char *overload;           /* of a function, "" = none */
    const char **in, **out;         /* "" = left out */
    size_t n_in, n_out, n_attrs;
    struct hd_onnx_attr *attrs;
};

struct hd_onnx_value { /* ValueInfoProto of a tensor */
    const char *name;
    int elem_type, rank;
    bool has_shape;
    int64_t dim[HD_MAX_RANK];       /* -1 = open */
    const char *param[HD_MAX_RANK]; /* name of an open dimension, or "" */
};

struct hd_onnx_graph { /* GraphProto, its parts as they lie in the file */
    const char *name;
    struct hd_onnx_node *nodes;
    struct hd_onnx_value *inputs, *outputs;
    struct hd_slice *initializers;
    size_t n_nodes, n_inputs, n_outputs, n_initializers;
};

struct hd_scope; /* names of the file -> tensors (scope.c) */
struct hd_run;   /* values of a run of what is imported so far (resolve.c) */

struct hd_captures { /* outer tensors that became inputs of a graph, in order */
    int *outer;
    size_t n, cap;
};

struct hd_onnx_function { /* FunctionProto: operations that a model defines itself */
    const char *name, *domain, *overload;
    const char **in, **out;
    size_t n_in, n_out, n_defaults;
    struct hd_onnx_attr *defaults; /* of attributes that a call leaves out */
    struct hd_slice bytes;
    int64_t opset; /* of the default domain, 0 = the model's */
};

struct hd_sequence { /* of tensors: known on import, no value of the graph */
    int *tensor;
    size_t n;
};

struct hd_onnx_call { /* of a function: what its body may refer to */
    const struct hd_onnx_function *function;
    const struct hd_onnx_node *node;
};

struct hd_importer {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena; /* scratch: parsed nodes */
    int64_t opset;   /* of the default domain */
    bool borrow;     /* constants may point into the file */
    const struct hd_onnx_model_info *model;
    struct hd_scope *scope;
    struct hd_run *run; /* NULL: no values are given, or this is the graph of an attribute */
    const struct hd_importer *outer; /* of the graph around this one */
    int depth;
    struct hd_captures *captures;    /* of a graph in an attribute */
    const struct hd_onnx_call *call; /* NULL: not in the body of a function */
    const char *prefix;              /* of names in the body of a function, else "" */
};

/* What all graphs of one import share. */
struct hd_onnx_model_info {
    const char *folder;        /* of the model file; NULL: it comes from memory */
    struct hd_mapping **files; /* grows; they live as long as the graph */
    struct hd_opset {
        const char *domain;
        int64_t version;
    } * opsets;
    size_t n_opsets;
    struct hd_onnx_function *functions;
    size_t n_functions;
    size_t *inlined; /* nodes of bodies of functions so far */
};

/* ---- onnx_parse.c: messages ---- */

bool hd_onnx_is_message(const struct hd_pb_field *f, uint32_t number);
char *hd_onnx_text(hd_arena *a, const struct hd_pb_field *f);
/* Parts of a GraphProto; the nodes with their attributes, but not the tensors. */
hd_status hd_onnx_parse_graph(struct hd_importer *m, struct hd_slice graph,
                              struct hd_onnx_graph *out);
hd_status hd_onnx_parse_function(struct hd_importer *m, struct hd_slice function,
                                 struct hd_onnx_function *out);
/* The nodes of its body, for the call m->call. */
hd_status hd_onnx_parse_body(struct hd_importer *m, const struct hd_onnx_function *f,
                             struct hd_onnx_graph *out);

/* ---- functions.c: operations that a model defines itself ---- */

/* The function of the model that n calls, NULL = none. */
const struct hd_onnx_function *hd_onnx_function(const struct hd_importer *m,
                                                const struct hd_onnx_node *n);
/* The nodes of its body, in place of n. */
hd_status hd_onnx_call_function(struct hd_importer *m, const struct hd_onnx_node *n,
                                const struct hd_onnx_function *f);

/* ---- scope.c: names ---- */

/* A scope for m->g: its own when up is NULL, else that of a branch that is imported in place. */
struct hd_scope *hd_scope_create(hd_arena *a, struct hd_scope *up);
/* The tensor of m->g that a name means, -1 = none. A name of a graph around m->g becomes an input
 * (noted in m->captures), or a constant when it is one there. */
int hd_scope_find(const struct hd_importer *m, const char *name);
bool hd_scope_has(const struct hd_scope *s, const char *name); /* in this scope, not those above */
void hd_scope_bind(struct hd_importer *m, const char *name, int tensor);
/* The sequence that a name of this graph means, NULL = it means none. */
const struct hd_sequence *hd_scope_sequence(const struct hd_importer *m, const char *name);
void hd_scope_bind_sequence(struct hd_importer *m, const char *name, const struct hd_sequence *s);

/* ---- onnx_graph.c: graphs ---- */

/* The nodes of `graph` become nodes of m->g, under m->scope; *outputs = its outputs' tensors.
 * Inputs are bound by the caller. */
hd_status hd_onnx_import_body(struct hd_importer *m, const struct hd_onnx_graph *graph,
                              int **outputs);
/* Imports `graph` as one of its own. inputs: for each of its inputs, name NULL = take the
 * declaration, known = false when its shape varies. *sub gets g and the captures. */
hd_status hd_onnx_import_subgraph(struct hd_importer *m, const struct hd_onnx_graph *graph,
                                  const struct hd_tensor *inputs, size_t n_inputs,
                                  struct hd_importer *sub);
/* Operations on sequences (onnx_sequence_ops.c). */
bool hd_onnx_takes_sequences(const struct hd_onnx_node *n);
/* Turns one node into IR nodes. */
hd_status hd_onnx_import_node(struct hd_importer *m, const struct hd_onnx_node *n);

/* ---- resolve.c: shapes that depend on values ---- */

/* Computes what node `id` needs, and it; gives its outputs the shapes of this run. */
hd_status hd_onnx_resolve(struct hd_importer *m, int id);
/* The value of a tensor, *out NULL = not known: a constant, or what it is in this run, for which
 * the graph is then made. */
hd_status hd_onnx_value(struct hd_importer *m, int tensor, const void **out);

/* ---- external.c: data in other files ---- */

/* Fills t->data of a tensor with t->location set. The path must stay in the model's folder. */
hd_status hd_onnx_external(struct hd_importer *m, const char *what, struct hd_tensor_pb *t);

#endif
