/* What the files of heddle quantize share: the job, runs of graphs on the calibration data, scores.
 */
#ifndef HD_CALIBRATE_JOB_H
#define HD_CALIBRATE_JOB_H

#include "compiler/calibrate/data.h"
#include "compiler/quantize/quantize.h"
#include "compiler/report/items.h"

enum network {                /* of a job, for the shapes of one data set */
               NET_FLOAT,     /* prepared */
               NET_REWRITTEN, /* with scales, as float simulation */
               NET_INTEGER,   /* that one legalised */
               NET_WRITTEN    /* the file, read back and legalised */
};

/* A network with further tensors as outputs. It is opened for the shapes of the data set that runs,
 * and again for a set of other shapes; sets of the same shapes stand together. */
struct runner {
    enum network kind;
    const bool *wanted;  /* per tensor of the job's ref; NULL = none */
    bool alone;          /* nothing but what is wanted is computed */
    int form;            /* of the data set that it is open for; -1 = none */
    const hd_graph *ref; /* as job.ref, with these shapes */
    hd_graph *own;       /* it, unless it is job.ref */
    hd_model *m;
    hd_session *s;
    hd_arena *a;
    void **out;  /* per output of m */
    int *tensor; /* per output of m: what the caller asked for, -1 = the network's own */
};

struct error { /* sums over the data sets */
    double signal, noise;
};

struct raise {         /* a group of activations that could be int16 */
    int group, tensor; /* and the first tensor of it that a layer makes, or comes in */
    double error;      /* that it adds as bytes: noise over signal, sum over the outputs */
    double cost;       /* products that read it, and its elements */
};

struct mixed { /* which activations are int16 (mixed.c) */
    bool wanted;
    double db;         /* that each output has to reach; 0 = `part` is the bound */
    double part;       /* of the data sets whose largest element stays */
    struct raise *row; /* by error over cost, the largest first */
    int n, raised;     /* rows; so many of them, from the first, are int16 */
};

struct job {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path;
    const char *closed; /* open dimensions of the file and their sizes, as import says */
    const int *open;    /* and which those are */
    int n_open;
    bool stays_open; /* they are open in what is written, too */
    struct hd_calibration data;
    struct hd_quant_options o; /* part and shift: as found by search */
    hd_graph *g, *ref;         /* the rewritten one, and the prepared float graph */
    const char **keep;         /* per node of ref: why it is to stay float; NULL = it is not */
    struct hd_quant_plan plan;
    struct hd_quant_stats *stats;
    struct error *tensor_error, *output_error;
    bool even;             /* the peaks of channels have been evened out */
    bool classes;          /* the first output is a row of classes: its largest element matters */
    bool counted;          /* the samples of arrays and images */
    int same_top, checked; /* of the file, on so many sets */
    int trials;            /* of the search: int8 networks that were run */
    int corrected, tuned, kept; /* by it: layers whose biases moved, rounds, nodes left in float */
    bool narrowed;              /* by it: ranges */
    struct mixed mixed;
    const void ***in; /* per data set that is made up: its inputs; NULL = none is */
    void ***want;     /* per data set and output: of the float network */
    int *order;       /* nodes of ref, as they run */
    size_t n_order;
    int done, total; /* rounds, for progress */
};

struct score {          /* of an int8 network */
    int same_top, sets; /* of so many that ran */
    double noise; /* beside the signal, dB, sum over sets and outputs; 60 dB count as perfect */
};

/* A copy of g with constants that lie in g, which outlives it, unless it has graphs in attributes.
 */
hd_status working_copy(hd_ctx *ctx, const hd_graph *g, hd_graph **out);
/* The network of the command line, prepared, for the shapes of data set i (forms.c). */
hd_status prepared(struct job *j, int i, hd_graph **out);
/* The same with job.ref's open dimensions twice as long; NULL = there are none, or it is another
 * network. */
hd_graph *prepared_wider(struct job *j);
/* The same beside job.ref, which has those of set 0: with its ids and its constants. */
hd_status prepared_like_ref(struct job *j, int i, hd_graph **out);
/* Outputs of a network, and the tensors that are wanted, on the device of the options. */
void runner_open(struct runner *r, enum network kind, const bool *wanted);
/* Runs data set i; its inputs are the arena's, and stay. */
hd_status runner_run(struct job *j, struct runner *r, hd_arena *a, int i, const void ***out_in);
/* The same for inputs that are given. */
hd_status runner_run_on(struct job *j, struct runner *r, int i, const void **in);
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
/* Runs integers on all sets; errors of its outputs, NULL = not wanted. */
hd_status score_outputs(struct job *j, enum network kind, struct error *errors, struct score *out);
double decibels(const struct error *e);
size_t largest(const struct hd_value_info *v, const void *x);

/* The rewritten form of ref for the plan and options of the job. */
hd_status rewritten(struct job *j, const hd_graph *ref, hd_graph **out);
/* The plan for job.keep. */
void choose_plan(struct job *j);
/* Leaves float, in job.keep, what is in doubt and costs the outputs too much (doubt.c). */
hd_status settle_doubts(struct job *j);
/* Changes plan and options of the job until the largest element of the first output is where the
 * float network has it, on every data set (quantize_search.c). */
hd_status search(struct job *j);
/* The states of the float network, OUT=IN as options name them. */
const char **states_of(const struct job *j, hd_arena *a, size_t *out_n);
/* "30dB" or "99%" to out; NULL, or what is allowed. */
const char *parse_mixed(const char *text, struct mixed *out);
/* Activations to int16 until the bound of job.mixed holds. Errors: HD_INVALID when it does not
 * hold with all of them. */
hd_status mix(struct job *j);

#endif
