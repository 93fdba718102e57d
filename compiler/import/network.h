/* Networks in files: import's public face. */
#ifndef HD_IMPORT_NETWORK_H
#define HD_IMPORT_NETWORK_H

#include <stdbool.h>

#include "compiler/ir/ir.h"

/* What gives open dimensions of a network their sizes. All may be absent; then the first dimension
 * of an input is a batch of 1. */
struct hd_bind {
    const struct hd_shape_bind { /* --shape */
        const char *name;        /* of an input, or of a dimension (then rank = 1) */
        int rank;
        int64_t dim[HD_MAX_RANK];
    } * shapes;
    size_t n_shapes;
    /* Tensors for the inputs, by name or else by position: dtype, rank, dim, and data. When a shape
     * inside the network depends on values, those of a run with this data are taken. */
    const struct hd_tensor *inputs;
    size_t n_inputs;
    /* Of a file whose functions check themselves (StableHLO): the comparisons of the n-th, from 1,
     * as pairs of outputs checkI.eq.got and checkI.eq.want; also almost and close. HD_MISMATCH when
     * there are fewer. 0 = the network. */
    int check;
    const struct hd_value_bind { /* --value: an ONNX input that is a constant, its elements v */
        const char *name;
        double v;
    } * values;
    size_t n_values;
    /* "OUTPUT=INPUT": the output is what the input is in the next run (--state) */
    const char *const *states;
    size_t n_states;
    bool tflite_rounding; /* TFLite: integer layers round as its kernels do */
};

/* A file of any format in formats.def -> graph as written. bind may be NULL. */
hd_status hd_import(hd_ctx *ctx, const char *path, const struct hd_bind *bind, hd_graph **out);

/* Pages of the graph's files leave memory until somebody reads them again. For stages that make
 * copies of weights first. */
void hd_import_rest(const hd_graph *g);
/* The names that a network has in a folder of its own; NULL at the end. */
extern const char *const hd_model_files[];
/* The extension is that of a network. */
bool hd_is_network(const char *path);
/* The last part of a path that tells a model from others: the folder's name for FOLDER/model.onnx
 * and its like. */
const char *hd_short_name(hd_arena *a, const char *path);

#endif
