/* What the files of heddle quantize share: the job, runs of graphs on the calibration data, scores.
 */
#ifndef HD_CALIBRATE_JOB_H
#define HD_CALIBRATE_JOB_H

#include "compiler/calibrate/data.h"
#include "compiler/quantize/quantize.h"
#include "compiler/report/items.h"

struct runner { /* a graph with further tensors as outputs */
    hd_model *m;
    hd_session *s;
    hd_arena *a;
    void **out;  /* per output of m */
    int *tensor; /* per output of m: what the caller asked for, -1 = the network's own */
};

struct error { /* sums over the data sets */
    double signal, noise;
};

struct job {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path;
    struct hd_calibration data;
    struct hd_quant_options o; /* part and shift: as found by search */
    hd_graph *g, *ref;         /* the rewritten one, and the prepared float graph */
    const char **keep;         /* per node of ref: why it is to stay float; NULL = it is not */
    struct hd_quant_plan plan;
    struct hd_quant_stats *stats;
    struct error *tensor_error, *output_error;
    bool even;    /* the peaks of channels have been evened out */
    bool classes; /* the first output is a row of classes: its largest element matters */
    int same_top;
    int trials;                 /* of the search: int8 networks that were run */
    int corrected, tuned, kept; /* by it: layers whose biases moved, rounds, nodes left in float */
    bool narrowed;              /* by it: ranges */
    void ***want;               /* per data set and output: of the float network */
    int *order;                 /* nodes of ref, as they run */
    size_t n_order;
    int done, total; /* rounds, for progress */
};

struct score { /* of an int8 network */
    int same_top;
    double noise; /* beside the signal, dB, sum over sets and outputs; 60 dB count as perfect */
};

hd_status clone_graph(hd_ctx *ctx, const hd_graph *g, hd_graph **out);
/* The same with constants that lie in g, which outlives it, unless it has graphs in attributes. */
hd_status working_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out);
/* Outputs of g, and the tensors that are wanted (NULL = none), on the device of the options. */
hd_status runner_open(struct job *j, const hd_graph *g, const bool *wanted, struct runner *r);
hd_status runner_run(struct job *j, struct runner *r, const void **in);
void runner_close(struct runner *r);
void quantize_progress(struct job *j, const char *what);

/* The int8 network for the prepared float network j->ref, to j->g: calibrates and searches. Errors:
 * HD_INVALID when there is nothing to quantise. */
hd_status quantize_network(struct job *j);
/* "minmax", "entropy", "percentile", "percentile:P" to o; NULL, or what is allowed. */
const char *parse_range(const char *text, struct hd_quant_options *o);
/* A node of ref that computes in float and stays so: no data movement, no shapes. */
bool stays_float(const struct job *j, size_t node);

/* Statistics of all tensors that the plan observes. */
hd_status calibrate(struct job *j);
/* Outputs of the float network for all data sets, to job.want. */
hd_status reference_outputs(struct job *j);
/* job.tensor_error: layers of the rewritten graph beside those of the float one, set by set. */
hd_status compare_layers(struct job *j);
/* Runs a legalised graph on all sets; errors of its outputs, NULL = not wanted. */
hd_status score_outputs(struct job *j, const hd_graph *legal, struct error *errors,
                        struct score *out);
double decibels(const struct error *e);
size_t largest(const struct hd_value_info *v, const void *x);

/* The rewritten graph for the plan and options of the job. */
hd_status rewritten(struct job *j, hd_graph **out);
/* The plan for job.keep. */
void choose_plan(struct job *j);
/* Changes plan and options of the job until the largest element of the first output is where the
 * float network has it, on every data set (quantize_search.c). */
hd_status search(struct job *j);

#endif
