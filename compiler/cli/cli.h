/* What the subcommands share: the command table, options, models and tensors, tables, JSON.
 *
 *   options.c   options of all commands, one table        model.c    MODEL argument -> model and
 * session tensors.c   inputs, data sets, outputs                npy.c      .npy and .npz table.c
 * text tables, progress, messages           report.c   facts of a run, as table and as JSON
 */
#ifndef HD_CLI_CLI_H
#define HD_CLI_CLI_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "compiler/compiler.h"
#include "runtime/runtime.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 }; /* the exit status, nothing else */

enum cli_option {
    OPT_DEVICE,
    OPT_DEVICES,
    OPT_MACHINE,
    OPT_SET,
    OPT_INPUTS,
    OPT_OUTPUTS,
    OPT_SHAPE,
    OPT_SEED,
    OPT_REPEAT,
    OPT_MEM_LATENCY,
    OPT_MEM_BYTES,
    OPT_MEM_OUTSTANDING,
    OPT_MEM_JITTER,
    OPT_NO_HIDING,
    OPT_FUNCTIONAL,
    OPT_DUMP,
    OPT_THREADS,
    OPT_JSON,
    OPT_OUT,
    OPT_EMIT,
    OPT_PASS,
    OPT_FULL,
    OPT_IMAGES,
    OPT_CYCLES,
    OPT_TRACE,
    OPT_TRACE_FROM,
    OPT_TRACE_CYCLES,
    OPT_TRACE_LEVEL,
    OPT_REPORT,
    OPT_SELECT,
    OPT_KEEP,
    OPT_STAGE,
    OPT_COLOR,
    OPT_FOLD,
    OPT_CSV,
    OPT_BISECT,
    OPT_LIST,
    OPT_CALIBRATE,
    OPT_RANGE,
    OPT_SYMMETRIC,
    OPT_ACTIVATIONS,
    OPT_BIAS_CORRECTION,
    OPT_EQUALIZE,
    OPT_HELP,
    OPT_COUNT
};
#define CLI_MASK(o)         (UINT64_C(1) << (o))
#define CLI_MACHINE_OPTIONS (CLI_MASK(OPT_MACHINE) | CLI_MASK(OPT_SET))
#define CLI_MEM_OPTIONS                                                                            \
    (CLI_MASK(OPT_MEM_LATENCY) | CLI_MASK(OPT_MEM_BYTES) | CLI_MASK(OPT_MEM_OUTSTANDING) |         \
     CLI_MASK(OPT_MEM_JITTER))
#define CLI_RUN_OPTIONS                                                                            \
    (CLI_MACHINE_OPTIONS | CLI_MEM_OPTIONS | CLI_MASK(OPT_NO_HIDING) | CLI_MASK(OPT_FUNCTIONAL) |  \
     CLI_MASK(OPT_THREADS) | CLI_MASK(OPT_JSON))

struct cli_options {
    const char *device, *devices, *machine, *inputs, *outputs, *dump, *json, *out, *emit, *pass,
        *trace, *trace_level, *report, *select, *keep, *stage, *color, *fold, *csv;
    const char *sets[32], *shapes[32], *list, *calibrate, *range, *activations;
    int n_sets, n_shapes;
    uint64_t seed, trace_from, trace_cycles;
    int repeat, threads, images;
    struct hd_mem_options mem;
    uint64_t jitter_first, jitter_last; /* seeds, when mem.jitter */
    bool no_latency_hiding, functional, full, cycles, bisect, symmetric, bias_correction, equalize;
};

struct cli {
    hd_ctx *ctx;
    const struct cli_command *command;
    struct cli_options opt;
    const struct hd_probe *probe; /* for devices that are opened; NULL = none */
    bool free_issue;              /* of them: see hd_device_options */
    bool timed;                   /* ... that they take the time of each step */
    char **args;                  /* what is not an option */
    int n_args;
    double start; /* for progress */
    bool progress_shown;
};

struct cli_command {
    const char *name, *args, *doc;
    int min_args, max_args;
    uint64_t options;   /* CLI_MASK of each */
    const char *device; /* default of --device */
    int (*run)(struct cli *c);
};
extern const struct cli_command cli_commands[]; /* ends with a NULL name */

/* Fills c->opt and c->args; CLI_DONE, or CLI_USAGE after a message; *out_help when --help was
 * given. */
int cli_parse(struct cli *c, int argc, char **argv, bool *out_help);
void cli_print_help(const struct cli_command *cmd, FILE *out);

/* ---- messages and tables --------------------------------------------------------------------- */

/* Prints "heddle run: <message of ctx>" and gives the exit status CLI_FAILED. */
int cli_fail(struct cli *c);
int cli_usage(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double cli_now(void); /* seconds, monotonic */
/* Shows work in progress on a terminal once it has taken over a second; cli_progress_end clears it.
 */
void cli_progress(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_progress_end(struct cli *c);

struct cli_table {
    int cols;
    const char *align; /* per column 'l' or 'r' */
    char **cells;
    size_t n, cap;
};
void cli_table_init(struct cli_table *t, const char *align);
/* Appends one cell; rows fill up from left to right. */
void cli_cell(struct cli_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cli_cells(struct cli_table *t, const char *const *texts, int n);
void cli_table_print(struct cli_table *t, FILE *out); /* and frees it */

/* Writes obj to --json (a file, or - for stdout) and drops it. */
int cli_write_json(struct cli *c, json_object *obj);
/* True when JSON goes to stdout, so that tables must not. */
bool cli_json_on_stdout(const struct cli *c);
void cli_add_str(json_object *o, const char *key, const char *v);
void cli_add_int(json_object *o, const char *key, int64_t v);
void cli_add_num(json_object *o, const char *key, double v);
json_object *cli_shape_json(const int64_t *dim, int rank);

/* ---- models ---- */

struct cli_tensor;

/* --machine and --set applied, or the base machine. */
hd_status cli_machine(struct cli *c, struct hd_machine *out);
/* File behind a MODEL argument: itself, or the network in a folder. *out_path is the arena's. */
hd_status cli_model_path(struct cli *c, hd_arena *a, const char *arg, const char **out_path);
const char *cli_model_in(hd_arena *a, const char *folder); /* NULL = no network */
/* The last part of a path that tells a model from others: the folder's name for FOLDER/model.onnx
 * and its like.
 */
const char *cli_short_name(hd_arena *a, const char *path);
bool cli_is_hdl(const char *path); /* a compiled model */
/* A model that benchmarks know by its folder: in $HEDDLE_MODELS or ../shared/models, else in
 * build/models, where those go that are made here. It need not be there. The arena's. */
const char *cli_stored_model(hd_arena *a, const char *folder);
/* Compiles or loads MODEL, with --keep, --dump and --select. host_only as in hd_compile_options.
 * Open dimensions take their sizes from --shape, then from --inputs or the first data set beside
 * it. */
hd_status cli_open_model(struct cli *c, const char *path, bool host_only, hd_model **out);
/* The same for a network, with the tensors of one data set for the inputs. */
hd_status cli_open_model_for(struct cli *c, const char *path, bool host_only,
                             const struct cli_tensor *t, int n, hd_model **out);
/* The graph as written, its open dimensions sized in the same way. */
hd_status cli_import(struct cli *c, const char *path, hd_graph **out);
/* What cli_open_model sizes them with; n tensors, or those of --inputs or beside the model. */
hd_status cli_bind(struct cli *c, hd_arena *a, const struct cli_tensor *t, int n,
                   struct hd_bind *out);
hd_status cli_bind_inputs(struct cli *c, hd_arena *a, const char *path, struct hd_bind *out);
/* A session with the options of the command line on model->machine. */
hd_status cli_open_session(struct cli *c, const hd_model *m, const char *device, hd_session **out);
void cli_device_options(const struct cli *c, const struct hd_machine *m,
                        struct hd_device_options *out);
bool cli_is_graph_device(const char *scheme);
/* The memory model in force, defaults filled in. */
struct hd_mem_options cli_mem(const struct cli *c, const struct hd_machine *m);

/* ---- tensors ---- */

struct cli_tensor {
    const char *name; /* "" when the file has none */
    int dtype;        /* ONNX */
    int rank;
    int64_t dim[HD_VALUE_RANK];
    const void *data;
    size_t bytes;
};

hd_status cli_load_npy(hd_ctx *ctx, hd_arena *a, const void *data, size_t bytes, const char *name,
                       struct cli_tensor *out);
hd_status cli_load_npz(hd_ctx *ctx, hd_arena *a, const char *path, struct cli_tensor **out,
                       int *out_n);
hd_status cli_save_npz(hd_ctx *ctx, const char *path, const struct cli_tensor *t, int n);
hd_status cli_load_pb(hd_ctx *ctx, hd_arena *a, const char *path, struct cli_tensor *out);
/* kind_0.pb, kind_1.pb, ... in a test_data_set folder; kind "input" or "output". */
hd_status cli_load_set(hd_ctx *ctx, hd_arena *a, const char *folder, const char *kind,
                       struct cli_tensor **out, int *out_n);
/* Folders test_data_set_N beside the model, by number; all strings are the arena's. */
char **cli_data_sets(hd_arena *a, const char *model_path, int *out_n);
const char *cli_folder_of(hd_arena *a, const char *path);
/* Tensors of --inputs, else of the first data set beside the model, else none (*out_what = NULL).
 */
hd_status cli_load_inputs(struct cli *c, hd_arena *a, const char *model_path,
                          struct cli_tensor **out, int *out_n, const char **out_what);
/* The model's inputs in order, from tensors of a file; errors name input, got and want. */
hd_status cli_match_inputs(hd_ctx *ctx, hd_arena *a, const hd_model *m, const struct cli_tensor *t,
                           int n, const void ***out);
/* From --inputs, or the first data set beside the model, or random from --seed. *out_what says
 * which. */
hd_status cli_inputs(struct cli *c, hd_arena *a, const hd_model *m, const char *model_path,
                     const void ***out, const char **out_what);
/* x[i] = i / n: the inputs of ONNX's own networks that come with outputs only. */
const void **cli_ramp_inputs(hd_arena *a, const hd_model *m);
void **cli_output_buffers(hd_arena *a, const hd_model *m);
const char *cli_shape_text(hd_arena *a, const int64_t *dim, int rank);
const char *cli_dtype_name(int onnx_dtype);
/* A tensor of a file may be given for a value: same type, or the bits of bfloat16. */
bool cli_dtypes_agree(int file_onnx_dtype, int value_onnx_dtype);
/* Element i of dense data as a number. */
double cli_element(const void *data, int onnx_dtype, size_t i);

/* ---- calibration data (calibrate.c) ---- */

struct cli_calibration {
    const char *what; /* the files, or how the data are made; for people */
    int n;            /* data sets */
    struct cli_set {
        struct cli_tensor *t;
        int n;
    } * sets;    /* NULL: made from the shapes of the inputs */
    bool arrays; /* sets[0] holds arrays of all samples */
    bool ramp;   /* else random */
    uint64_t seed;
};
/* --calibrate: a folder with test_data_set_*, or such a folder, or .npz, .npy, .pb; default: those
 * beside the model, else random from --seed. */
hd_status cli_load_calibration(struct cli *c, hd_arena *a, const char *model_path,
                               struct cli_calibration *out);
/* Counts the samples when they are in arrays: of model m. */
hd_status cli_count_calibration(struct cli *c, hd_arena *a, const hd_model *m,
                                struct cli_calibration *k);
/* Inputs of data set i. */
hd_status cli_calibration_inputs(struct cli *c, hd_arena *a, const hd_model *m,
                                 const struct cli_calibration *k, int i, const void ***out);
/* Files for inputs by their kind (--inputs). */
hd_status cli_load_tensors(struct cli *c, hd_arena *a, const char *path, struct cli_tensor **out,
                           int *out_n);
hd_status cli_random_inputs(struct cli *c, hd_arena *a, const hd_model *m, uint64_t seed,
                            const void ***out);

/* ---- report ---- */

struct cli_run {
    const hd_model *model;
    const char *path, *device, *inputs;
    struct hd_counters counters;
    double wall_seconds;
    bool has_cycles;                  /* the device is a machine */
    const struct hd_exec_step *steps; /* of a device that plans the graph itself */
    int n_steps;
};

/* Totals over layers. */
struct cli_totals {
    int64_t macs, roofline_cycles, unavoidable_bytes;
    double utilization, efficiency;
};
struct cli_layer { /* what plan and run say of one layer */
    const char *name, *op, *bound;
    int64_t cycles, macs, roofline, dram_bytes, mx_busy, vx_busy;
    double utilization, efficiency;
};
/* Of layer i; without a run the measured fields are zero. */
struct cli_layer cli_layer_facts(const struct cli *c, const struct cli_run *r, int i);
struct cli_totals cli_run_totals(const struct cli *c, const struct cli_run *r);
void cli_print_run(struct cli *c, const struct cli_run *r, FILE *out);
void cli_print_layers(struct cli *c, const struct cli_run *r, FILE *out);
void cli_print_host_ops(const hd_model *m, FILE *out);
/* Busy and stalled cycles of every unit. */
json_object *cli_units_json(const struct hd_counters *k);
json_object *cli_run_json(struct cli *c, const struct cli_run *r);
void cli_print_steps(const struct cli_run *r, FILE *out);
json_object *cli_steps_json(const struct cli_run *r);

/* ---- trace ---- */

/* Timeline of the last run, as opt->trace_* say, of the layers that are set (NULL = all). Without a
 * run seen by its probe it holds the counters. Model, options and layers outlive it; the memory is
 * the arena's. */
struct cli_trace *cli_trace_create(hd_arena *a, const hd_model *m, const struct cli_options *opt,
                                   const bool *layers);
const struct hd_probe *cli_trace_probe(const struct cli_trace *t);
hd_status cli_trace_write(struct cli *c, struct cli_trace *t, const struct cli_run *r,
                          const char *path);

/* ---- first difference ---- */

/* The first operation of m's programs after which the memories of two machines differ, as text and
 * in *out (NULL: none does). The inputs are those of a run. */
hd_status cli_first_difference(struct cli *c, hd_arena *a, const hd_model *m,
                               const char *const device[2], const void *const *in, FILE *text,
                               json_object **out);

/* ---- commands
 * ------------------------------------------------------------------------------------ */

int cmd_compile(struct cli *c);
int cmd_run(struct cli *c);
int cmd_compare(struct cli *c);
int cmd_test(struct cli *c);
int cmd_asm(struct cli *c);
int cmd_disasm(struct cli *c);
int cmd_check(struct cli *c);
int cmd_exec(struct cli *c);
int cmd_opt(struct cli *c);
int cmd_devices(struct cli *c);
int cmd_machines(struct cli *c);
int cmd_ops(struct cli *c);
int cmd_bench(struct cli *c);
int cli_bench_cpu(struct cli *c, char **models, int n);     /* heddle bench cpu */
int cli_bench_compare(struct cli *c, char **models, int n); /* heddle bench compare */
int cli_bench_iss(struct cli *c, char **models, int n);     /* heddle bench iss-vs-rtl */
int cli_bench_memory(struct cli *c, char **models, int n);  /* heddle bench memory */
bool cli_bench_has_set(const char *set);
int cli_bench_machine(struct cli *c, const char *set); /* single layers, bench_layers.def */
int cmd_quantize(struct cli *c);
int cmd_query(struct cli *c);
int cmd_graph(struct cli *c);
hd_graph *cli_bench_layer(hd_arena *a, const char *name, uint64_t seed); /* one of them */
int cli_bench_speed(struct cli *c); /* heddle bench sim-speed */
int cmd_demo(struct cli *c);
int cmd_xclbin(struct cli *c);
int cmd_emu_device(struct cli *c);

#endif
