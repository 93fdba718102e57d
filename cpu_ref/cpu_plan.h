/* The plan of device cpu: made once from a graph when a model is loaded, run many times.
 *
 *   tensors lie in *views*: one tensor in one form (dense, channels last, or a layout that oneDNN
 *   chose); a step that needs another form gets a reorder in front of it
 *   *steps* run in order; each reads and writes views and belongs to one of the step makers below
 *   memory of all views is one block, planned by when they live; constants and packed weights lie
 *   outside of it
 *
 * Step makers are asked in this order for every node; the first that takes it makes its steps:
 *   hd_cpu_tuned     works with a schedule that is faster (cpu_tuned.c), where --db gives one
 *   hd_cpu_int8      integer kernels (cpu_int8.c), oneDNN's where it is exact
 *   hd_cpu_dynamic   integer operands that are quantised while they run (cpu_dynamic.c)
 *   hd_cpu_dnnl      oneDNN: convolutions, products, pools, with what follows fused in
 *   hd_cpu_move      copies: reshape, transpose, concat, slices
 *   hd_cpu_recurrent LSTM and GRU (cpu_rnn_run.c)
 *   hd_cpu_loops     fused loops compiled by LLVM
 *   hd_cpu_reduce    sums over dimensions that loops do not take
 *   golden           the reference kernel, for all that nobody else takes
 */
#ifndef HD_CPU_REF_CPU_PLAN_H
#define HD_CPU_REF_CPU_PLAN_H

#include "compiler/expr/expr.h"
#include "compiler/ir/ir.h"
#include "compiler/schedules/schedules.h"
#include "cpu_ref/host.h"

enum hd_cpu_kind {
    HD_CPU_DENSE,  /* row-major, as in the graph */
    HD_CPU_LAST,   /* [N][spatial..][C] of a tensor [N,C,spatial..] */
    HD_CPU_BLOCKED /* oneDNN's, described by md */
};

struct hd_cpu_form {
    enum hd_cpu_kind kind;
    const void *md; /* BLOCKED: interned by the plugin, so equal forms have equal pointers */
};

struct hd_cpu_view {
    int tensor; /* -1: only the plan knows it */
    struct hd_cpu_form form;
    size_t bytes;
    int root; /* view that this one is a part of, at byte `at`; -1 = it has memory of its own */
    size_t at;
    const void *constant; /* not NULL: it lies there */
    int io;               /* it is this input or output of the exec (see hd_host_io), -1 = not */
    int first, last;      /* steps between which it lives */
    size_t offset;        /* in the plan's memory */
    int next;             /* of the same tensor, -1 = none */
};

struct hd_cpu_plan;
struct hd_cpu_run {
    hd_ctx *ctx;
    const struct hd_cpu_plan *plan;
    void **at;     /* per view */
    void *scratch; /* plan->scratch_bytes, 64-byte aligned; a step's own while it runs */
};

struct hd_cpu_step {
    int node;        /* the first of those it computes, -1 = a reorder */
    int n_nodes;     /* how many it computes */
    const char *how; /* who runs it, for people: "int8", "onednn jit:avx2", "golden", .. */
    hd_status (*run)(struct hd_cpu_run *r, const struct hd_cpu_step *s);
    void *state;
    void (*destroy)(void *state); /* NULL: nothing to do, state is the arena's */
    int n_in, n_out;
    int *in, *out;  /* views */
    double seconds; /* of the fastest run, when timed */
};

struct hd_cpu_plan {
    hd_ctx *ctx;
    hd_arena *arena;
    const hd_graph *g;
    int threads;
    struct hd_schedules *db;        /* NULL = none */
    const struct hd_dnnl_api *dnnl; /* NULL = not on this machine */
    void *dnnl_engine;
    const struct hd_jit_api *jit; /* NULL = not on this machine */
    void *jit_engine;
    bool jit_failed;
    bool *loop_seen;                  /* per node: its expression was asked for ... */
    const struct hd_expr **loop_expr; /* ... and is this, or none (cpu_expr.c) */

    struct hd_cpu_view *views;
    size_t n_views, cap_views;
    struct hd_cpu_step *steps;
    size_t n_steps, cap_steps;
    size_t scratch_bytes, memory_bytes;
    unsigned char *memory, *scratch;

    bool *done, *wanted;   /* per node: planned; to be computed at all */
    bool *kept;            /* per tensor: asked for from outside, so nothing may swallow it */
    const void **constant; /* per tensor: value that is known when the plan is made */
    int *view_of;          /* per tensor: first of its views, -1 = none yet */
    int *users;            /* per tensor: nodes (wanted) that read it, counted once each operand */
    int **user;            /* ... and which */
    struct hd_host_io io;
    const hd_model *model;
    int *out_view;              /* per output of io: where it comes from */
    const struct hd_made *made; /* NULL = nobody wants to know */
    int *done_by, *next_done;   /* per step: the first output that it writes last; per output: one
                                   more   of the same step; -1 = none */
    struct hd_tensor *golden;   /* operands of golden kernels, for hd_golden_node */
    hd_arena *golden_results, *golden_scratch;
    void **at; /* per view, for the run */
};

/* x: what the exec exchanges; nodes/n: what it computes (n = 0: everything). */
hd_status hd_cpu_plan_create(hd_ctx *ctx, const hd_graph *g, const hd_model *m,
                             const struct hd_host_io *io, const int *nodes, size_t n, int threads,
                             struct hd_schedules *db, struct hd_cpu_plan **out);
void hd_cpu_plan_destroy(struct hd_cpu_plan *p); /* NULL is fine */
/* Runs tell it of the outputs of the model, in the order in which they are made. */
void hd_cpu_plan_made(struct hd_cpu_plan *p, const struct hd_made *made);
/* buffers: of inputs, then of outputs. */
hd_status hd_cpu_plan_run(hd_ctx *ctx, struct hd_cpu_plan *p, void *const *buffers, bool timed);

/* ---- for step makers ------------------------------------------------------------------------ */

static const struct hd_cpu_form hd_cpu_dense = {HD_CPU_DENSE, NULL};
static const struct hd_cpu_form hd_cpu_last = {HD_CPU_LAST, NULL};

/* The tensor in this form: a view that exists, or a new one behind a reorder. */
hd_status hd_cpu_need(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, int *out);
/* True when a view in this form exists, or costs nothing (one channel, one pixel). */
bool hd_cpu_has(const struct hd_cpu_plan *p, int tensor, enum hd_cpu_kind kind);
/* A new view that the next step writes. bytes: 0 = those of the tensor. */
int hd_cpu_make(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, size_t bytes);
/* A new view of the tensor that shares memory with `root`. */
int hd_cpu_alias(struct hd_cpu_plan *p, int tensor, struct hd_cpu_form form, int root, size_t at);
int hd_cpu_root(const struct hd_cpu_plan *p, int view);
/* Appends a step; in and out are copied, negative views left as they are. */
struct hd_cpu_step *hd_cpu_step(struct hd_cpu_plan *p, int node, const char *how, int n_in,
                                const int *in, int n_out, const int *out);
void hd_cpu_scratch(struct hd_cpu_plan *p, size_t bytes); /* that a step needs while it runs */
/* The only reader of tensor t, when nobody outside asks for t; else -1. */
int hd_cpu_only_user(const struct hd_cpu_plan *p, int tensor);
/* Constant data of tensor t, NULL when it is not constant. */
const void *hd_cpu_const(const struct hd_cpu_plan *p, int tensor);
/* Constant integers of tensor t (i32 or i64); the count, -1 when they are not constant or more than
 * max; 0 when t is left out. */
int hd_cpu_const_ints(const struct hd_cpu_plan *p, int tensor, int64_t *out, int max);
/* True when somebody else than node `except` that is not planned yet reads t, or outside does. */
bool hd_cpu_needed_later(const struct hd_cpu_plan *p, int tensor, int except);
/* A copy of bytes from one view to another. */
void hd_cpu_copy_step(struct hd_cpu_plan *p, int from, int to, size_t bytes);

/* Step makers: *out_taken tells whether they took the node. */
hd_status hd_cpu_tuned(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_int8(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_dynamic(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_dnnl(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_move(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_gather(struct hd_cpu_plan *p, int node, bool *out_taken); /* cpu_move.c asks it */
hd_status hd_cpu_recurrent(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_loops(struct hd_cpu_plan *p, int node, bool *out_taken);
hd_status hd_cpu_reduce(struct hd_cpu_plan *p, int node, bool *out_taken);

/* Reorder between blocked forms and dense; both views exist. cpu_dnnl.c */
hd_status hd_cpu_dnnl_reorder(struct hd_cpu_plan *p, int from, int to);
/* A step that runs an operation of oneDNN, and owns it. */
struct hd_dnnl_op;
struct hd_cpu_step *hd_cpu_dnnl_step(struct hd_cpu_plan *p, int node, struct hd_dnnl_op *op,
                                     int n_in, const int *in, int out);
/* oneDNN's quantised convolution against plain loops on extreme operands, once: what it says about
 * the processor is not taken on trust. cpu_trial.c */
bool hd_cpu_trial_int8(const struct hd_dnnl_api *api, void *engine);
/* What is here of the plugins, for people: a constant text. */
const char *hd_cpu_describe(void);
void hd_cpu_open_plugins(struct hd_cpu_plan *p);
bool hd_cpu_need_jit(struct hd_cpu_plan *p);
void hd_cpu_close_plugins(struct hd_cpu_plan *p);

#endif
