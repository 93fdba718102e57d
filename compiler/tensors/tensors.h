/* Tensors in files: .npy, .npz, .pb, folders of data sets; and dense data for a model's inputs and
 * outputs. */
#ifndef HD_TENSORS_TENSORS_H
#define HD_TENSORS_TENSORS_H

#include "compiler/ir/ir.h"
#include "runtime/base/arena.h"
#include "runtime/device/model.h"

struct hd_file_tensor {
    const char *name; /* "" when the file has none */
    int dtype;        /* ONNX */
    int rank;
    int64_t dim[HD_VALUE_RANK];
    const void *data;
    size_t bytes;
};

hd_status hd_load_npy(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes, const char *name,
                      struct hd_file_tensor *out);
hd_status hd_load_npz(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor **out,
                      int *out_n);
hd_status hd_save_npz(hd_ctx *ctx, const char *path, const struct hd_file_tensor *t, int n);
hd_status hd_load_pb(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor *out);
/* kind_0.pb or kind_0.npy, kind_1, ... in a test_data_set folder; kind "input" or "output". */
hd_status hd_load_set(hd_ctx *ctx, hd_arena *a, const char *folder, const char *kind,
                      struct hd_file_tensor **out, int *out_n);
/* Folders test_data_set_N beside the model, by number; all strings are the arena's. */
char **hd_data_sets(hd_arena *a, const char *model_path, int *out_n);
const char *hd_folder_of(hd_arena *a, const char *path);
/* Whether the tensors fit the inputs of g; errors name input, got and want. */
hd_status hd_check_inputs(hd_ctx *ctx, hd_arena *a, const hd_graph *g,
                          const struct hd_file_tensor *t, int n);
/* The model's inputs in order, from tensors of a file; states that are not given begin with their
 * initial value. Errors name input, got and want. */
hd_status hd_match_inputs(hd_ctx *ctx, hd_arena *a, const hd_model *m,
                          const struct hd_file_tensor *t, int n, const void ***out);
/* Of tensors that hold several runs, one after another along an axis in front, those of run `step`;
 * a tensor that does not is every run's. */
struct hd_file_tensor *hd_step_tensors(hd_arena *a, const struct hd_file_tensor *t, int n,
                                       int64_t step, int64_t steps);
/* What an input begins with that is state, or that the network itself gives; *out NULL = input i
 * does not. The arena's, or the model's. */
hd_status hd_initial_value(hd_ctx *ctx, hd_arena *a, const hd_model *m, int i, const void **out);
/* x[i] = i / n: the inputs of ONNX's own networks that come with outputs only. */
const void **hd_ramp_inputs(hd_arena *a, const hd_model *m);
void **hd_output_buffers(hd_arena *a, const hd_model *m);
const char *hd_dims_text(hd_arena *a, const int64_t *dim, int rank);
const char *hd_onnx_dtype_name(int onnx_dtype);
/* A tensor of a file may be given for a value: same type, or the bits of bfloat16. */
bool hd_dtypes_agree(int file_onnx_dtype, int value_onnx_dtype);
/* Element i of dense data as a number. */
double hd_element(const void *data, int onnx_dtype, size_t i);
/* Files for inputs by their kind (--inputs). */
hd_status hd_load_tensors(hd_ctx *ctx, hd_arena *a, const char *path, struct hd_file_tensor **out,
                          int *out_n);
hd_status hd_random_inputs(hd_ctx *ctx, hd_arena *a, const hd_model *m, uint64_t seed,
                           const void ***out);

#endif
