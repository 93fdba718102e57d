/* Tensor expressions: what an operation computes, as index expressions (docs/expressions.md).
 *
 *   (x: i8[N,C,H,W], w: i8[M,C,3,3], stride = 1) -> acc
 *   acc[n,m,i,j] += i32(x[n,c,stride*i+p,stride*j+q]) * i32(w[m,c,p,q])
 *
 *   struct hd_expr *f, *b;
 *   TRY(hd_expr_parse(ctx, arena, text, &f));
 *   TRY(hd_expr_bind(ctx, arena, f, &args, &b));        // shapes and types: all is known now
 *   TRY(hd_expr_run(ctx, b, in, out, arena));           // the interpreter
 *
 * Bound expressions have one type and one shape for each tensor, one range for each index variable,
 * and every access is inside its tensor, or is a gather that is checked when it runs. */
#ifndef HD_EXPR_EXPR_H
#define HD_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/base/arena.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

enum {
    HD_EXPR_RANK = 8,
    HD_EXPR_VARS = 24, /* index variables of a statement */
    HD_EXPR_BYTES = 1 << 16,
    HD_EXPR_NODES = 1 << 12,
    HD_EXPR_TENSORS = 64, /* parameters and definitions together */
    HD_EXPR_NESTING = 64
};

enum hd_expr_op {
    HD_EXPR_INT,    /* i; adapts to the type beside it until it is bound */
    HD_EXPR_FLOAT,  /* f */
    HD_EXPR_NAME,   /* not resolved yet: size, scalar or index variable */
    HD_EXPR_VAR,    /* index variable i of the statement, an i64 */
    HD_EXPR_REST,   /* "...", an index of an access */
    HD_EXPR_ACCESS, /* tensor i at the operands */
    HD_EXPR_PAD,    /* operand 0, an access; outside its tensor operand 1 */
    HD_EXPR_CAST,   /* to `type` */
    HD_EXPR_SELECT, /* operand 0 ? operand 1 : operand 2 */
#define PREFIX(name, ...)    HD_EXPR_##name,
#define INFIX(name, ...)     HD_EXPR_##name,
#define FUNCTION(name, ...)  HD_EXPR_##name,
#define FUNCTION2(name, ...) HD_EXPR_##name,
#include "compiler/expr/expr.def"
    HD_EXPR_OPS
};

enum hd_expr_round { HD_ROUND_TRUNC, HD_ROUND_EVEN, HD_ROUND_AWAY, HD_ROUND_FLOOR, HD_ROUND_CEIL };
enum hd_expr_reduce {
    HD_REDUCE_NONE,
    HD_REDUCE_SUM,
    HD_REDUCE_PRODUCT,
    HD_REDUCE_MAX,
    HD_REDUCE_MIN,
    HD_REDUCE_ARGMAX, /* the first of the largest */
    HD_REDUCE_ARGMIN,
    HD_REDUCES
};

struct hd_expr_node {
    enum hd_expr_op op;
    int type;                 /* hd_dtype; -1 = not known yet */
    int n, arg[HD_EXPR_RANK]; /* operands, nodes */
    int64_t i;
    double f;
    const char *name;         /* of NAME, and of ACCESS before names are resolved */
    enum hd_expr_round round; /* of CAST from float to integer */
    bool saturate;            /* of CAST between integers */
    bool checked;             /* of a bound ACCESS: it is looked at when it runs (gather) */
    int at;                   /* place in the text */
};

struct hd_expr_size { /* of a dimension: a number, a name, or any number of dimensions */
    const char *name; /* NULL: value */
    int64_t value;
    bool rest; /* "..." */
};

struct hd_expr_tensor {
    const char *name;
    int type; /* -1 = any */
    int rank; /* -1 = any */
    struct hd_expr_size dim[HD_EXPR_RANK];
    bool param, result;
    bool optional; /* a parameter that may be absent: every element is then `value` */
    bool absent;   /* of a bound one */
    double value;
    int at;
};

struct hd_expr_var {
    const char *name;
    int64_t extent;   /* 0 .. extent - 1; -1 = not known yet */
    const char *axis; /* name of the dimension that it runs over, or NULL */
    int where;        /* node of "where name < ..", -1 = none */
    bool reduced;
};

struct hd_expr_stmt {
    int tensor; /* that it defines */
    enum hd_expr_reduce reduce;
    int rank, lhs[HD_EXPR_RANK]; /* variables; -1 = "..." */
    int n_vars;
    struct hd_expr_var var[HD_EXPR_VARS]; /* first those of the left side, in order of appearance */
    int value;                            /* node */
    int at;
};

struct hd_expr_scalar { /* a number that is given when the expression is bound */
    const char *name;
    bool is_float, known;
    int64_t i;
    double f;
};

struct hd_expr {
    hd_arena *arena;
    const char *text;
    struct hd_expr_node *node;
    size_t n_nodes, cap_nodes;
    struct hd_expr_tensor *tensor; /* parameters in order, then definitions */
    size_t n_tensors, cap_tensors;
    struct hd_expr_scalar *scalar;
    size_t n_scalars, cap_scalars;
    struct hd_expr_stmt *stmt;
    size_t n_stmts, cap_stmts;
    int *result; /* tensors, in the order of the header */
    size_t n_results, cap_results;
    int n_params;
    bool bound;
};

/* Reads an expression and resolves its names. Errors: HD_INVALID with line, column, got and
 * allowed. */
hd_status hd_expr_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_expr **out);
/* The normal form; it reads back as the same expression. Of a bound one: with types, sizes and
 * ranges. */
const char *hd_expr_text(hd_arena *a, const struct hd_expr *f);
/* A node alone; var[i] is the name of variable i. */
void hd_expr_print_node(FILE *out, const struct hd_expr *f, int node, const char *const *var);

struct hd_expr_arg { /* one tensor parameter */
    bool absent;
    hd_dtype type;
    int rank;
    int64_t dim[HD_EXPR_RANK];
};
struct hd_expr_args {
    int n;
    const struct hd_expr_arg *arg;
    int n_scalars;
    const struct hd_expr_scalar *scalar; /* those without a default at least; others are ignored */
};
/* Shapes, types, ranges and bounds. args NULL: the header declares all of them. Results are
 * (*out)->tensor[(*out)->result[i]]. Errors: HD_INVALID as above. */
hd_status hd_expr_bind(hd_ctx *ctx, hd_arena *a, const struct hd_expr *f,
                       const struct hd_expr_args *args, struct hd_expr **out);
/* What holds for bound expressions, from scratch: a bug of ours when it fails after bind. */
hd_status hd_expr_verify(hd_ctx *ctx, const struct hd_expr *f);

/* Computes the results, one element after the other: dense tensors; in[i] of an absent parameter is
 * NULL; out[i] is result i. Temporaries are the arena's. Errors: HD_INVALID for a gather outside
 * its tensor. */
hd_status hd_expr_run(hd_ctx *ctx, const struct hd_expr *f, const void *const *in, void *const *out,
                      hd_arena *a);

/* Two bound expressions compute the same: as elements of operators, operands that commute in either
 * order; floats up to their rounding on the way. */
bool hd_expr_same(const struct hd_expr *a, const struct hd_expr *b);

/* Variable (in loops: loop) v stands below the node. */
bool hd_expr_uses(const struct hd_expr *f, int node, int v);
/* The access of i32(x) or i32(pad(x, constant)) of an i8 or u8; -1 = the node is something else. */
int hd_expr_byte(const struct hd_expr *f, int node);
/* Elements and rank of a bound tensor. */
int64_t hd_expr_elems(const struct hd_expr_tensor *t);

#endif
