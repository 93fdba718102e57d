/* heddle: from a network to results and cycles, in one library (libheddle.so).
 *
 *   hd_ctx *ctx = hd_ctx_create();
 *   hd_net *net = NULL;
 *   hd_model *model = NULL;
 *   hd_session *session = NULL;
 *   struct hd_build build = {.machine = "base"};
 *   hd_status s = hd_net_load(ctx, "model.onnx", NULL, 0, &net);
 *   if (!s) s = hd_net_compile(ctx, net, &build, &model);
 *   if (!s) s = hd_session_open(ctx, model, "iss", NULL, &session);
 *   if (!s) s = hd_session_run(ctx, session, inputs, outputs);
 *   if (s) fprintf(stderr, "%s\n", hd_message(ctx));
 *
 * heddle_rt.h, which this includes, has contexts, models and sessions, and says what holds of
 * memory, threads and errors. libheddle.so has all devices in it; device cpu opens libhd_dnnl.so
 * and libhd_jit.so beside it, where they are.
 *
 * Threads: a network belongs to one thread at a time. Calls with different contexts and networks
 * run side by side.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include "runtime/heddle_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types of elements ---------------------------------------------------------------------- */

/* "f32", "i8", ... of an ONNX TensorProto.DataType; NULL: Heddle has none such. */
HD_API const char *hd_type_name(int dtype);
HD_API int hd_type_by_name(const char *name); /* 0 = unknown */
/* Bytes of an element in memory: those below a byte take one. 0 = unknown. */
HD_API size_t hd_type_bytes(int dtype);

/* ---- networks ------------------------------------------------------------------------------- */

typedef struct hd_net hd_net;

/* Reads a file of any format, ONNX, TensorFlow Lite, Caffe, StableHLO, or a folder with one. sizes:
 * of open dimensions, by the name of an input (all its dimensions) or of a dimension (rank 1);
 * dtype and bytes are not read. Without, the first dimension of an input is a batch of 1. Errors:
 * HD_IO, HD_INVALID, HD_UNSUPPORTED. */
HD_API hd_status hd_net_load(hd_ctx *ctx, const char *path, const struct hd_io_info *sizes,
                             int n_sizes, hd_net **out);
struct hd_load_options {
    const struct hd_io_info *sizes;
    int n_sizes;
    const char *rounding; /* of integer layers of TensorFlow Lite: "float" (NULL), or "tflite", as
                             its kernels round, for devices golden and cpu (docs/formats.md) */
    const struct hd_input_value { /* an input of an ONNX file that becomes a constant */
        const char *name;
        double value; /* of each element */
    } * values;
    int n_values;
};
HD_API hd_status hd_net_load_with(hd_ctx *ctx, const char *path, const struct hd_load_options *o,
                                  hd_net **out);
/* From memory, which is only needed during the call. The extension of `name` tells the format. */
HD_API hd_status hd_net_load_memory(hd_ctx *ctx, const void *data, size_t bytes, const char *name,
                                    hd_net **out);
/* From the text form (docs/ir.md); `name` is for messages. */
HD_API hd_status hd_net_parse(hd_ctx *ctx, const char *text, const char *name, hd_net **out);
/* One more state (heddle_rt.h): the output is what the input, which begins with zero, is in the
 * next run. Both go to the ends of their lists. HD_INVALID: no such names; HD_UNSUPPORTED: other
 * types. */
HD_API hd_status hd_net_state(hd_ctx *ctx, hd_net *net, const char *output, const char *input);
/* Writes ONNX. HD_UNSUPPORTED: an operation that ONNX does not have. */
HD_API hd_status hd_net_save(hd_ctx *ctx, const hd_net *net, const char *path);
/* The text form; constants as a hash unless full. *out is freed by hd_text_free. */
HD_API hd_status hd_net_text(hd_ctx *ctx, const hd_net *net, bool full, char **out);
HD_API void hd_text_free(char *text);
HD_API void hd_net_destroy(hd_net *net); /* NULL is fine */

HD_API const char *hd_net_name(const hd_net *net);
HD_API int hd_net_n_inputs(const hd_net *net);
HD_API int hd_net_n_outputs(const hd_net *net);
HD_API int hd_net_n_nodes(const hd_net *net);
/* Tensors by number. -1: there is no such input or output. */
HD_API int hd_net_input(const hd_net *net, int i);
HD_API int hd_net_output(const hd_net *net, int i);
/* *out is all zero when there is no such tensor; rank is -1 while its shape is not known. */
HD_API void hd_net_tensor(const hd_net *net, int tensor, struct hd_io_info *out);
/* Name of the axis that a dimension of a tensor is; NULL = it has none. */
HD_API const char *hd_net_axis(const hd_net *net, int tensor, int dim);
/* Node i, in an order in which they may run: its name, operation and first result. NULL behind the
 * last. */
HD_API const char *hd_net_node(const hd_net *net, int i, const char **out_op, int *out_tensor);

/* ---- building networks ---------------------------------------------------------------------- */

/* Operation i of those that nodes may have: its name; how many operands, and results, at most; a
 * line that says what it is. NULL behind the last. */
struct hd_op_row {
    const char *name, *doc;
    int min_in, max_in, max_out;
};
HD_API const char *hd_op(int i, struct hd_op_row *out);

struct hd_net_attr {
    const char *name;
    /* one of them, of n values; strings and networks have no n */
    const int64_t *ints;
    const float *floats;
    const char *string;
    const hd_net *net; /* a branch of `if`, the body of `loop` or `scan`; it is copied */
    int n;
    bool list; /* also when n is 1 */
};

HD_API hd_net *hd_net_create(const char *name);
/* Adds a tensor, and gives its number. axes: a name for each dimension, where there is one; NULL:
 * none has. A name has one length in the whole network. Names that are taken get a number. */
HD_API hd_status hd_net_add_input(hd_ctx *ctx, hd_net *net, const struct hd_io_info *tensor,
                                  const char *const *axes, int *out);
HD_API hd_status hd_net_add_constant(hd_ctx *ctx, hd_net *net, const struct hd_io_info *tensor,
                                     const char *const *axes, const void *data, int *out);
/* Adds a node and finds the shapes of its results, whose numbers go to out[0..n_out). An operand of
 * -1 is left out. Nothing is added after an error, which names the node. */
HD_API hd_status hd_net_add_node(hd_ctx *ctx, hd_net *net, const char *op, const char *name,
                                 const int *in, int n_in, const struct hd_net_attr *attrs,
                                 int n_attrs, int *out, int n_out);
HD_API hd_status hd_net_add_output(hd_ctx *ctx, hd_net *net, int tensor);
/* Whether all of it is well formed. */
HD_API hd_status hd_net_check(hd_ctx *ctx, const hd_net *net);

/* Layers, losses and metrics, made of nodes and weights (docs/training.md). Layer i: its name, how
 * many operands, the names of its numbers, with = where they may be left out. NULL behind the last.
 */
HD_API const char *hd_layer(int i, int *out_operands, const char **out_numbers);
/* For layers that follow: the seed of their weights, and whether the network is trained: dropout
 * drops, batch norm takes the statistics of the batch. */
HD_API void hd_net_layers(hd_net *net, uint32_t seed, bool training);
/* Adds one; its n numbers by name. The first dimension of its operands is the batch. After an error
 * the network is good for nothing. */
HD_API hd_status hd_net_add_layer(hd_ctx *ctx, hd_net *net, const char *kind, const int *in,
                                  int n_in, const char *const *names, const double *values, int n,
                                  int *out);

/* ---- training ------------------------------------------------------------------------------- */

typedef struct hd_training hd_training;
struct hd_training_options { /* zero = default */
    const char *optimizer;   /* adam */
    const char *schedule;    /* constant */
    const char *device;      /* cpu */
    double rate, steps;      /* steps: of the schedule */
    double weight_decay, clip_norm, warm_up;
    int threads, shards;
    double momentum, clip_value;
    const char *precision;          /* f32; "f16", "bf16": networks of logits compute in that */
    double loss_scale, scale_steps; /* of precision: factor of the loss; see docs/training.md */
    const char *memory;             /* "30000000" bytes, "50%": limit of a step's temporaries */
};
/* A network whose outputs are a loss and metrics, all f32 scalars; or with one f32 input and one
 * output of logits, which gets cross entropy and a second input, classes. It stays as it is. */
HD_API hd_status hd_training_open(hd_ctx *ctx, const hd_net *net,
                                  const struct hd_training_options *options, hd_training **out);
/* in: the inputs of a batch, densely; out: results of the step. */
HD_API hd_status hd_training_step(hd_ctx *ctx, hd_training *t, const void *const *in, float *out);
HD_API int hd_training_n_results(const hd_training *t);
HD_API const char *hd_training_result(const hd_training *t, int i); /* its name; NULL = none such */
HD_API size_t hd_training_input_bytes(const hd_training *t, int i); /* 0 = none such */
HD_API int64_t hd_training_steps(const hd_training *t);             /* that were taken */
/* The factor of the loss in the next step; with scale_steps, steps that changed nothing, since a
 * gradient was too large for the precision: those of a loaded checkpoint too. Else 0. */
HD_API double hd_training_loss_scale(const hd_training *t);
HD_API int64_t hd_training_skipped(const hd_training *t);
/* The weights, to the constants of net that have their names. */
HD_API hd_status hd_training_weights(hd_ctx *ctx, const hd_training *t, hd_net *net);
/* All state: what follows a load has the bits of what would have followed the save. */
HD_API hd_status hd_training_save(hd_ctx *ctx, const hd_training *t, const char *path);
HD_API hd_status hd_training_load(hd_ctx *ctx, hd_training *t, const char *path);
/* The results of steps that follow go to TensorBoard's event file in a folder, which is made; it is
 * written every 100 steps, and at the end: NULL, or the close. */
HD_API hd_status hd_training_events(hd_ctx *ctx, hd_training *t, const char *folder);
HD_API void hd_training_close(hd_training *t); /* NULL is fine */

/* ---- quantising ----------------------------------------------------------------------------- */

struct hd_quantize_row { /* a node of the float network */
    const char *node, *op;
    const char *why; /* it stays float; NULL = it is a layer in integers, and: */
    double from, to; /* range of its result */
    double db;       /* signal to error of its result */
};
struct hd_quantize {
    const char *range; /* "minmax" (NULL), "entropy", "percentile", "percentile:99.9" */
    bool symmetric;    /* zero points in the middle */
    bool unsigned_activations;
    bool bias_correction, equalize; /* docs/quantize.md */
    const char *keep;               /* selector of nodes that stay float (docs/query.md) */
    const char *device;             /* that calibrates: golden, cpu; NULL = cpu */
    /* Called for each layer at the end, and for each node that stays float; NULL = not. */
    void (*row)(void *user, const struct hd_quantize_row *row);
    void *user;
};
struct hd_quantize_score { /* of the int8 network on the data */
    int sets;
    int same_top; /* sets whose largest output keeps its place; -1: the output is no row of classes
                   */
    int trials, kept_in_float; /* of the search */
    double db;                 /* of the first output */
};
/* An int8 network of a float one, with QuantizeLinear and DequantizeLinear pairs. sets[i][k]: the
 * dense data of input k of set i; each set is one run. Data and network stay as they are. out_score
 * may be NULL. Errors: HD_INVALID, also when there is nothing to quantise. */
HD_API hd_status hd_net_quantize(hd_ctx *ctx, const hd_net *net, const struct hd_quantize *options,
                                 const void *const *const *sets, int n_sets, hd_net **out,
                                 struct hd_quantize_score *out_score);

/* ---- machines ------------------------------------------------------------------------------- */

HD_API const char *hd_machine_name(int i); /* NULL behind the last */
struct hd_machine_value {
    const char *name, *doc;
    uint32_t value, min, max;
};
/* Parameters of a machine: a name, or a file; then the settings "name=value". Copies up to max,
 * *out_n = how many there are. */
HD_API hd_status hd_machine_values(hd_ctx *ctx, const char *machine, const char *const *set,
                                   int n_set, struct hd_machine_value *out, int max, int *out_n);

/* ---- compiling ------------------------------------------------------------------------------ */

struct hd_build {
    const char *machine;    /* name or file; NULL = base */
    const char *const *set; /* "name=value", applied to it */
    int n_set;
    bool host_only;          /* for devices golden and cpu alone: no program */
    bool keep_all;           /* every result of a layer can be read after a run */
    bool in_order;           /* every operation waits for the one before it */
    uint32_t memory_latency; /* cycles that tiles are chosen for; 0 = default */
    /* "iss,cuda,cpu": each node is placed on one of them, by cost; NULL = on the machine, and on
     * golden what it does not run. hd_session_open takes the same list. */
    const char *devices;
    /* A model that was compiled before, by this library from the same network, sizes and options,
     * comes from $XDG_CACHE_HOME/heddle/compiled, where at most so many MiB are kept; 0: none. Not
     * with keep_all, nor devices. */
    int cache_mib;
};
/* The network stays as it is. Errors: HD_INVALID, HD_UNSUPPORTED; both name the node. */
HD_API hd_status hd_net_compile(hd_ctx *ctx, const hd_net *net, const struct hd_build *build,
                                hd_model **out);
/* Same model, same bytes. */
HD_API hd_status hd_model_save(hd_ctx *ctx, const hd_model *m, const char *path);

HD_API const char *hd_model_name(const hd_model *m);
HD_API const char *hd_model_machine(const hd_model *m);

/* Input i is state (heddle_rt.h): its value before the first run, as dense data, to out, and
 * *out_is = true. */
HD_API hd_status hd_model_initial(hd_ctx *ctx, const hd_model *m, int i, void *out, bool *out_is);

/* A layer of the machine, as planned, and as it ran (zero without a run). */
struct hd_layer_row {
    const char *name, *op;
    const char *bound; /* "compute", "memory" or "vector": what its roofline is */
    const char *plan;  /* one line for people: tiles, where operands live */
    int step;          /* whose program it is part of */
    int64_t cycles, macs, roofline, dram_bytes, mx_busy, vx_busy;
    double utilization; /* of the multipliers */
    double efficiency;  /* roofline / cycles */
};
HD_API int hd_model_n_layers(const hd_model *m);
HD_API void hd_model_layer(const hd_model *m, int i, struct hd_layer_row *out);

/* What stays on the host, and why. */
struct hd_host_row {
    const char *node, *op, *reason, *hint; /* hint: what would change it */
    double seconds;                        /* about */
};
HD_API int hd_model_n_host_ops(const hd_model *m);
HD_API void hd_model_host_op(const hd_model *m, int i, struct hd_host_row *out);

/* Values that a run can show: inputs, outputs, and what goes between steps. */
HD_API int hd_model_n_values(const hd_model *m);
HD_API void hd_model_value(const hd_model *m, int i, struct hd_io_info *out);

/* ---- running -------------------------------------------------------------------------------- */

struct hd_run_options { /* zero = the device's default */
    uint32_t memory_latency, memory_bytes_per_cycle, memory_outstanding;
    uint64_t jitter_seed; /* memory answers after random times; 0 = it does not */
    uint64_t watchdog_cycles;
    int threads;     /* of device cpu */
    bool functional; /* iss: results without time, sooner */
    bool timed;      /* golden, cpu: take the time of each step */
    bool profile;    /* iss, rtl: keep every operation, for hd_session_report */
};
/* As hd_session_open, with options. */
HD_API hd_status hd_session_open_with(hd_ctx *ctx, const hd_model *m, const char *device,
                                      const struct hd_run_options *opt, hd_session **out);

/* A file with open dimensions, for inputs of any size: it is compiled for sizes when they first
 * come, and the sessions of those that were used last are kept. */
typedef struct hd_any hd_any;
enum { HD_ANY_SIZES = 4 };
struct hd_any_options {
    const struct hd_build *build; /* NULL = as hd_net_compile */
    const char *device;           /* NULL = iss */
    const struct hd_run_options *run;
    const char *rounding; /* as hd_load_options */
    int most;             /* sizes whose sessions are kept; 0 = HD_ANY_SIZES */
};
HD_API hd_status hd_any_open(hd_ctx *ctx, const char *path, const struct hd_any_options *options,
                             hd_any **out);
/* The session for these shapes, by the names of inputs (dtype and bytes are not read), and its
 * model, where out_model is not NULL. They are good until so many other sizes have come, or the
 * close. States belong to a session. Errors: those of loading and compiling; what was kept stays.
 */
HD_API hd_status hd_any_session(hd_ctx *ctx, hd_any *any, const struct hd_io_info *inputs,
                                int n_inputs, const hd_model **out_model, hd_session **out);
HD_API int64_t hd_any_compiled(const hd_any *any); /* how often it has compiled */
HD_API void hd_any_close(hd_any *any);             /* NULL is fine */

/* Dense copy of a value after a run; HD_UNSUPPORTED if it stayed on chip. */
HD_API hd_status hd_session_value(hd_ctx *ctx, hd_session *s, int value, void *out);
/* Layer i as it ran last. */
HD_API hd_status hd_session_layer(hd_ctx *ctx, hd_session *s, int i, struct hd_layer_row *out);
/* Sums of the last run, units by name. */
struct hd_run_totals {
    uint64_t cycles, read_bytes, write_bytes, code_bytes;
    int64_t macs, roofline;
    double utilization, efficiency;
};
HD_API hd_status hd_session_totals(hd_ctx *ctx, hd_session *s, struct hd_run_totals *out);
struct hd_unit_row {
    const char *name;
    uint64_t busy, stall_semaphore, stall_memory, stall_bank;
};
/* HD_INVALID behind the last. */
HD_API hd_status hd_session_unit(hd_ctx *ctx, hd_session *s, int i, struct hd_unit_row *out);
/* Step i of a device that plans the graph itself (cpu): the first node, who computes it, how many
 * nodes are in it, and the seconds of the fastest run when they are taken. False behind the last.
 */
struct hd_step_row {
    const char *node, *op, *how;
    int n_nodes;
    double seconds;
};
HD_API bool hd_session_step(hd_session *s, int i, struct hd_step_row *out);

/* Step i of a session of several devices: its nodes, the bytes that it was given and gave, and what
 * its nodes would cost on each device. False behind the last. */
struct hd_part_row {
    const char *device, *why; /* why: NULL = not placed by cost */
    int n_nodes;
    int64_t in_bytes, out_bytes;
    double seconds; /* of the last run, by the wall clock */
};
HD_API bool hd_session_part(hd_session *s, int i, struct hd_part_row *out);

/* Writes the last run as one HTML page that needs nothing else: layers, roofline, timeline,
 * memories, code. HD_INVALID: the session was opened without profile. */
HD_API hd_status hd_session_report(hd_ctx *ctx, hd_session *s, const char *path);

/* ---- comparing ------------------------------------------------------------------------------ */

struct hd_difference {
    size_t n, differ, beyond; /* elements; not the same bits; not explained by rounding of floats */
    size_t first;             /* that differs, where one does */
    double max, mean, rms;
    double db; /* signal to error; infinite when nothing differs */
};
/* Two dense forms of value i of the model. */
HD_API void hd_model_compare(const hd_model *m, int i, const void *reference, const void *got,
                             struct hd_difference *out);

#ifdef __cplusplus
}
#endif

#endif
