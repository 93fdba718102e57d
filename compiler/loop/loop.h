/* Loops: how a tensor expression is computed. A schedule is a list of steps, a value that is
 * printed and read. Lowering applies it and gives the loop IR. A schedule never changes a result
 * of integers. docs/expressions.md has both for users.
 *
 *   TRY(hd_schedule_parse(ctx, arena, "split y i 8 io ii; vectorize y ii", &s));
 *   TRY(hd_loop_lower(ctx, arena, bound, s, &nest));
 *   TRY(hd_loop_run(ctx, nest, in, out, arena));       // the interpreter */
#ifndef HD_LOOP_LOOP_H
#define HD_LOOP_LOOP_H

#include "compiler/expr/expr.h"

enum {
    HD_LOOP_MAX = 256,      /* loops of a program */
    HD_LOOP_DEPTH = 32,     /* loops of a statement */
    HD_LOOP_WORDS = 40,     /* of a step */
    HD_LOOP_BYTES = 1 << 14 /* of a schedule's text */
};

/* ---- schedules ------------------------------------------------------------------------------ */

enum hd_schedule_kind {
#define STEP(name, ...) HD_STEP_##name,
#include "compiler/loop/steps.def"
    HD_STEPS
};

struct hd_schedule_step {
    enum hd_schedule_kind step;
    int n;             /* arguments */
    const char **word; /* of each */
    int64_t number[5]; /* of arguments that are numbers */
    int line;
};

struct hd_schedule {
    struct hd_schedule_step *step;
    size_t n, cap;
};

/* Steps stand on lines of their own, or with ";" between them. Errors: HD_INVALID with the line,
 * got and allowed. */
hd_status hd_schedule_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_schedule **out);
const char *hd_schedule_text(hd_arena *a, const struct hd_schedule *s);

/* ---- loop IR -------------------------------------------------------------------------------- */

enum hd_loop_mark {
    HD_LOOP_SERIAL,
    HD_LOOP_UNROLLED,
    HD_LOOP_VECTOR,
    HD_LOOP_PARALLEL,
    HD_LOOP_THREADS, /* the threads of a block share the iterations: it fills a shared buffer */
    HD_LOOP_BLOCK_X, /* from here on: of a GPU's grid */
    HD_LOOP_BLOCK_Y,
    HD_LOOP_BLOCK_Z,
    HD_LOOP_THREAD_X,
    HD_LOOP_THREAD_Y,
    HD_LOOP_THREAD_Z,
    HD_LOOP_MARKS
};
extern const char *const hd_loop_mark_text[HD_LOOP_MARKS];

struct hd_loop {
    const char *name;
    int64_t extent; /* 0 .. extent - 1 */
    enum hd_loop_mark mark;
    const char *intrinsic; /* that stands for it and what is inside, or NULL */
    int parts, stages;     /* of intrinsic gemm: see steps.def */
    bool reduced;          /* the iterations add to the same elements */
};

enum hd_loop_kind {
    HD_LOOP_FOR,    /* loop, body */
    HD_LOOP_IF,     /* value: the condition, body */
    HD_LOOP_SET,    /* tensor[index] = value */
    HD_LOOP_UPDATE, /* tensor[index] = reduce(tensor[index], value) */
    HD_LOOP_BARRIER /* the threads of a block have all computed their elements of the tensor */
};

struct hd_loop_stmt { /* variables of nodes are loops */
    enum hd_loop_kind kind;
    int loop, value, tensor, n_index, index[HD_EXPR_RANK];
    enum hd_expr_reduce reduce;
    int best, position; /* of arg reductions: tensor of the best values; node of the position */
    struct hd_loop_stmt *body, *next;
};

struct hd_nest {
    struct hd_expr *f; /* nodes and tensors; behind the expression's own tensors come buffers */
    struct hd_loop loop[HD_LOOP_MAX];
    int n_loops;
    int *scope;   /* of each tensor: the loop that fills it anew in each iteration; -1 = none */
    bool *shared; /* of each tensor: the threads of a block have one together */
    struct hd_loop_stmt *body;
};

/* Applies the schedule (NULL: none) to a bound expression. Errors: HD_INVALID with the line of the
 * step that does not fit, and why. */
hd_status hd_loop_lower(hd_ctx *ctx, hd_arena *a, const struct hd_expr *bound,
                        const struct hd_schedule *s, struct hd_nest **out);
const char *hd_loop_text(hd_arena *a, const struct hd_nest *n);
/* Drops guards that always hold, loops of one iteration, and what is known of indexes. */
void hd_loop_tidy(hd_arena *a, struct hd_nest *n);
/* The loops as C11, behind hd_loop_c_prologue() (once in a file): `void name(const void *const *in,
 * void *const *out)`, with the operands of hd_loop_run. Results are the interpreter's to the bit
 * (compile without contraction). Errors: HD_UNSUPPORTED for f16, bf16, gathers, conversions of u64
 * and arg reductions. */
const char *hd_loop_c_prologue(void);
hd_status hd_loop_c(hd_ctx *ctx, hd_arena *a, const struct hd_nest *n, const char *name,
                    const char **out);
/* As hd_expr_run. Iterations of parallel loops and lanes run from the last to the first. Errors: an
 * access or a store outside its tensor. */
hd_status hd_loop_run(hd_ctx *ctx, const struct hd_nest *n, const void *const *in, void *const *out,
                      hd_arena *a);

#endif
