/* Private to compiler/loop: a statement while its schedule is applied. */
#ifndef HD_LOOP_LOOP_INT_H
#define HD_LOOP_LOOP_INT_H

#include "compiler/expr/eval.h"
#include "compiler/loop/loop.h"

/* The elements of a tensor that a part of a stage reads: in dimension d those from base + lo to
 * base + hi, base over the loops that stand around the part. */
struct hd_region {
    int n_reads;
    int base[HD_EXPR_RANK]; /* node; -1 = 0 */
    int64_t lo[HD_EXPR_RANK], hi[HD_EXPR_RANK];
};

struct hd_buffer { /* that a stage reads instead of a tensor */
    int tensor, buffer;
    int loop;      /* it is filled in this loop; -1 = in front of all (pack) */
    bool computed; /* by the stage of the tensor, in this loop; else copied */
    bool shared;   /* by the threads of a block together: it covers what all of them read */
    int last;      /* the tensor's dimension that lies last in the buffer; -1 = in order */
    int outside;   /* node: what elements outside the tensor are; -1 = 0 */
    struct hd_region region;
    int dim; /* pack: the dimension that is cut in blocks of `block` */
    int64_t block;
};

struct hd_stage { /* one statement */
    const struct hd_expr_stmt *s;
    int value;          /* node; its variables are the statement's */
    int value_expanded; /* node over loops that reads the buffers; -1 = not made yet */
    int n_loops, loop[HD_LOOP_DEPTH]; /* from the outermost */
    int var[HD_EXPR_VARS];            /* node of each variable, over loops */
    int n_guards, guard[2 * HD_LOOP_DEPTH];
    bool guard_reduced[2 * HD_LOOP_DEPTH]; /* says nothing of the first value */
    int home, home_loop;                   /* stage and loop that it is computed in; -1 = none */
    int place[HD_EXPR_RANK];               /* nodes: where in its part, when it has a home */
    int best;                              /* tensor of an arg reduction's best values */
    int n_buffers;
    struct hd_buffer buffer[8];
    bool touched; /* a step was applied */
    bool fixed;   /* what its loops read depends on their order: it stays */
};

struct hd_lowering {
    hd_ctx *ctx;
    hd_arena *a;
    struct hd_nest *nest;
    struct hd_expr *f; /* nest->f */
    struct hd_stage *stage;
    int n_stages;
    int definition[HD_LOOP_MAX]; /* of a loop that became others: its value over them; -1 = none */
    const struct hd_schedule_step *step; /* in force, for messages */
};

/* HD_INVALID with the step. */
hd_status hd_step_fail(const struct hd_lowering *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
hd_status hd_step_apply(struct hd_lowering *l, const struct hd_schedule_step *step);
/* tensorize, with g's loop number `at`. */
hd_status hd_step_tensorize(struct hd_lowering *l, struct hd_stage *g, int at, const char *name);
/* gemm, with g's loop number `at`. */
hd_status hd_step_gemm(struct hd_lowering *l, struct hd_stage *g, int at);
hd_status hd_step_compute_at(struct hd_lowering *l, const struct hd_schedule_step *step);
hd_status hd_step_cache(struct hd_lowering *l, const struct hd_schedule_step *step);
hd_status hd_step_pack(struct hd_lowering *l, const struct hd_schedule_step *step);
/* Index in l->stage of the statement that defines `name`; its loop `name` in g->loop; a tensor. */
hd_status hd_find_stage(const struct hd_lowering *l, const char *name, int *out);
hd_status hd_find_loop(const struct hd_lowering *l, const struct hd_stage *g, const char *name,
                       int *out);
hd_status hd_find_tensor(const struct hd_lowering *l, const char *name, int *out);
/* A new loop; a new tensor, which is a buffer. Errors: a name that is taken, too many. */
hd_status hd_new_loop(struct hd_lowering *l, const char *name, int64_t extent, bool reduced,
                      int *out);
hd_status hd_new_buffer(struct hd_lowering *l, const char *name, int type, int rank,
                        const int64_t *dim, int *out);

/* ---- nodes: of type i64 (bool for comparisons) over loops ---- */
int hd_node_int(struct hd_lowering *l, int64_t v);
int hd_node_loop(struct hd_lowering *l, int loop);
int hd_node_of(struct hd_lowering *l, enum hd_expr_op op, int a, int b);
int hd_node_access(struct hd_lowering *l, int tensor, int n, const int *index);
/* A copy of node in which loops that became others are replaced by their definitions; with a stage
 * the variables are the statement's and are replaced by its var[]. */
int hd_node_expand(struct hd_lowering *l, const struct hd_stage *g, int node);

/* What value node `root`, expanded, reads of `tensor`; inner[loop]: it moves inside the part. */
hd_status hd_region_find(struct hd_lowering *l, int root, int tensor, const bool *inner,
                         struct hd_region *out);
/* Least and largest value of an index node; false = it is no sum of loops times constants. */
bool hd_node_range(struct hd_lowering *l, int node, int64_t *lo, int64_t *hi);
/* The node in which accesses to b->tensor are accesses to b->buffer. */
int hd_node_redirect(struct hd_lowering *l, const struct hd_buffer *b, int node);
bool hd_same_node(const struct hd_expr *f, int a, int b);
/* The constant that pad gives wherever `node` reads the tensor; -1 = there is none. */
int hd_node_padding(const struct hd_expr *f, int node, int tensor);
/* list[0 .. rank - 1] in the order of the buffer's dimensions. */
void hd_buffer_order(const struct hd_buffer *b, int rank, int *list);

#endif
