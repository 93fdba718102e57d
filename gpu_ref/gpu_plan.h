/* The plan of a GPU device: made once from a graph when a model is loaded, run many times.
 *
 *   each tensor that a step reads or writes has a *view*: dense, in the device's memory
 *   *steps* run in order: launches of kernels, or a node on the host
 *   temporaries lie in one block of memory, planned by when they live; weights have one block, and
 *   are written once; inputs and outputs are buffers of the caller
 *
 * Step makers are asked in this order for every node; the first that takes it makes its steps:
 *   hd_gpu_move      nothing to do: reshapes share the memory of their operand
 *   hd_gpu_tuned     kernels of a choice that was measured (gpu_choice.h), where a file has one
 *   hd_gpu_products, hd_gpu_convolutions: a library of the GPU's vendor
 *   hd_gpu_express   kernels made of the node's tensor expression
 *   hd_gpu_recurrent, hd_gpu_qrecurrent: lstm, gru, rnn: kernels written by hand, for what has no
 *                    expression
 *   host             golden's kernel of that node, with the reason
 */
#ifndef HD_GPU_REF_GPU_PLAN_H
#define HD_GPU_REF_GPU_PLAN_H

#include "compiler/ir/ir.h"
#include "compiler/loop/kernels.h"
#include "compiler/schedules/schedules.h"
#include "cpu_ref/host.h"
#include "gpu_ref/gpu.h"
#include "gpu_ref/gpu_schedule.h"

struct hd_gpu_view {
    int tensor; /* -1: of a step alone */
    size_t bytes;
    int root;             /* view that it shares the memory of; -1 = it has its own */
    const void *constant; /* its value, on the host */
    bool once;            /* made of constants by a launch that runs once, and then kept */
    bool on_device;       /* a kernel reads or writes it */
    int io;               /* input or output of the exec (see hd_host_io); -1 = not */
    int first, last;      /* steps between which it lives */
    size_t offset;        /* in the block of temporaries, or of weights */
    hd_gpu_mem *mem;      /* NULL: of the caller */
};

struct hd_gpu_call { /* one launch of a step */
    int kernel;      /* of plan->kernels; -1: library */
    hd_gpu_library *library;
    size_t grid[3];
    int block[3];
    int n_args, *arg; /* views */
    hd_gpu_mem **mem; /* of them, filled in for each run */
    int timer;
    bool once; /* it reads constants alone: it runs when the plan is made, and never again */
};

struct hd_gpu_segment { /* steps of kernels between two of the host, repeated as one launch */
    size_t first, end;  /* steps first .. end - 1 */
    hd_gpu_recording *recording;
};

enum hd_gpu_step_kind { HD_GPU_KERNELS, HD_GPU_HOST };

struct hd_gpu_step {
    enum hd_gpu_step_kind kind;
    int node, n_nodes;
    int64_t macs;               /* of all of them */
    const char *how;            /* who computes it, for people; of the host with the reason */
    int n_in, n_out, *in, *out; /* HOST: views; -1 = left out */
    int n_calls;
    struct hd_gpu_call *call;
    void **host_in; /* HOST: where operands lie */
    void *moved;    /* HOST: room for one operand or result as it lies on the device */
    double seconds; /* of the fastest run, when timed */
};

/* Choices instead of the rules of thumb. */
struct hd_gpu_tuning {
    struct hd_schedules *db;          /* those that were measured; NULL = none */
    const struct hd_gpu_choice *only; /* this one for all, or none at all; NULL = not so */
    const bool *channels_last;        /* of each tensor, as another plan has it; NULL = not so */
};

enum { HD_GPU_GROUP = 16 };
struct hd_gpu_work {         /* an expression, of one node or several that became one */
    const char *name;        /* in a file of schedules */
    const struct hd_expr *f; /* as hd_gpu_schedule wants it */
    size_t step;             /* that computes it */
    int n, node[HD_GPU_GROUP];
    int n_results;
    const int *result; /* tensors of the graph; -1 = left out */
};
struct hd_gpu_works {
    struct hd_gpu_work *work;
    size_t n, cap;
};

struct hd_gpu_memory { /* of a plan, on the device */
    size_t temporary_bytes, weight_bytes;
    hd_gpu_mem *temporaries, *weights;
};

struct hd_gpu_plan {
    hd_ctx *ctx;
    hd_arena *arena;
    const struct hd_gpu_api *api;
    hd_gpu *gpu;
    const struct hd_gpu_limits *limits;
    const hd_graph *g;
    const hd_model *model;
    struct hd_host_io io;
    struct hd_device_options asked; /* no_fallback and precision are looked at */
    struct hd_gpu_tuning tuning;

    struct hd_gpu_view *views;
    size_t n_views, cap_views;
    struct hd_gpu_step *steps;
    size_t n_steps, cap_steps;
    struct hd_gpu_works works; /* of steps made of expressions */
    struct hd_kernels *kernels;
    hd_gpu_program *program;
    hd_gpu_kernel **kernel; /* of the program */
    struct hd_gpu_memory memory;
    int fault;     /* view of an int that gathers set; -1 = nothing gathers */
    int *out_view; /* per output of io */
    struct hd_gpu_segment *segments;
    size_t n_segments, cap_segments;
    uint64_t *recorded; /* where the buffers of the recordings are */

    bool *done, *wanted;   /* per node */
    const void **constant; /* per tensor: value that is known when the plan is made */
    int *view_of;          /* per tensor, -1 = none yet */
    int *users;            /* per tensor: how often wanted nodes and outputs read it */
    struct hd_tensor *golden;
    hd_arena *golden_results, *golden_scratch;
    bool *channels_last; /* per tensor: see gpu_layout.h */
    const char *why;     /* the last maker's reason for not taking the node */
    const char *how; /* of the step that takes it, when a maker has something to say; else NULL */
};

/* What a step must move: its operands and results, each once. */
int64_t hd_gpu_step_bytes(const struct hd_gpu_plan *p, const struct hd_gpu_step *s);
/* For people: what the step is. */
struct hd_exec_step hd_gpu_step_facts(const struct hd_gpu_plan *p, const struct hd_gpu_step *s);

struct hd_gpu_share { /* of what ran where */
    int64_t nodes, device_nodes, macs, device_macs;
};

/* o: no_fallback, precision; NULL = neither. tuning: NULL = none; its db outlives the plan. */
hd_status hd_gpu_plan_create(hd_ctx *ctx, const struct hd_gpu_api *api, hd_gpu *gpu,
                             const hd_graph *g, const hd_model *m, const struct hd_host_io *io,
                             const int *nodes, size_t n, const struct hd_device_options *o,
                             const struct hd_gpu_tuning *tuning, struct hd_gpu_plan **out);
/* The whole graph, for a device that is not here: nothing is built, and nothing can run. tuning as
 * above. */
hd_status hd_gpu_plan_on_paper(hd_ctx *ctx, const struct hd_gpu_api *api,
                               const struct hd_gpu_limits *limits, const hd_graph *g,
                               const hd_model *m, const struct hd_gpu_tuning *tuning,
                               struct hd_gpu_plan **out);
void hd_gpu_plan_destroy(struct hd_gpu_plan *p); /* NULL is fine */
/* buffers: of inputs, then of outputs. */
hd_status hd_gpu_plan_run(hd_ctx *ctx, struct hd_gpu_plan *p, hd_gpu_mem *const *buffers,
                          bool timed);
/* The launches that run once, behind hd_gpu_memory_plan. */
hd_status hd_gpu_plan_once(hd_ctx *ctx, struct hd_gpu_plan *p);
/* Drops what was recorded of the plan's runs. Memory that a recording names must not be freed
 * before. */
void hd_gpu_forget(struct hd_gpu_plan *p);
/* Nodes that a run computes (constants are none), and those in kernels of the device. */
struct hd_gpu_share hd_gpu_plan_share(const struct hd_gpu_plan *p);

/* ---- for step makers ------------------------------------------------------------------------ */

/* The node's result is the bytes of its operand. */
bool hd_gpu_moves(const struct hd_node *n);
/* The view of a tensor that was made, or is constant. HD_INVALID: nothing makes it. */
hd_status hd_gpu_need(struct hd_gpu_plan *p, int tensor, int *out);
/* Operand i of the node, and a new view of its result i; -1 = left out. */
hd_status hd_gpu_operand(struct hd_gpu_plan *p, const struct hd_node *n, int i, int *out);
int hd_gpu_result(struct hd_gpu_plan *p, const struct hd_node *n, int i);
/* A new view that the next step writes. tensor -1: a temporary of the step. */
int hd_gpu_make(struct hd_gpu_plan *p, int tensor, size_t bytes);
/* A view of the tensor that is the memory of `root`. */
int hd_gpu_alias(struct hd_gpu_plan *p, int tensor, int root);
struct hd_gpu_step *hd_gpu_step(struct hd_gpu_plan *p, enum hd_gpu_step_kind kind, int node,
                                const char *how, int n_in, const int *in, int n_out,
                                const int *out);
/* One more launch of the last step. */
struct hd_gpu_call *hd_gpu_call(struct hd_gpu_plan *p, int kernel, int n_args, const int *arg);
const void *hd_gpu_const(const struct hd_gpu_plan *p, int tensor); /* NULL = not constant */
/* Finds the launches of the last step that run once, of its first ones; made: the view that each
 * fills, -1 = several. */
void hd_gpu_find_once(struct hd_gpu_plan *p, const int *made);
/* The view that kernels with gathers report to. */
int hd_gpu_fault(struct hd_gpu_plan *p);

/* *out_taken tells whether they took the node; if not, p->why may say why. */
hd_status hd_gpu_move(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_tuned(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_products(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_convolutions(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_express(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_recurrent(struct hd_gpu_plan *p, int node, bool *out_taken);
hd_status hd_gpu_qrecurrent(struct hd_gpu_plan *p, int node, bool *out_taken);

#endif
