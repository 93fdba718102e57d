/* Private to compiler/expr: what parser, binder, printer and interpreter share. */
#ifndef HD_EXPR_EXPR_INT_H
#define HD_EXPR_EXPR_INT_H

#include "compiler/expr/expr.h"
#include "compiler/expr/scalar.h"

/* What an operator is: a row of expr.def. */
enum hd_expr_form { HD_FORM_OTHER, HD_FORM_PREFIX, HD_FORM_INFIX, HD_FORM_FUNCTION };
enum { HD_SET_FLT = 1, HD_SET_INT = 2, HD_SET_BOOL = 4 };
struct hd_expr_info {
    const char *text;
    enum hd_expr_form form;
    int level, n_args, types;
    bool truth; /* the result is bool */
};
extern const struct hd_expr_info hd_expr_infos[HD_EXPR_OPS];
extern const char *const hd_reduce_text[HD_REDUCES];
extern const char *const hd_round_text[];

/* HD_INVALID with line and column of place `at`. */
hd_status hd_expr_fail(hd_ctx *ctx, const struct hd_expr *f, int at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int hd_expr_new_node(struct hd_expr *f, enum hd_expr_op op, int at);
/* HD_SET_* of a type; 0 = expressions do not know it. */
int hd_expr_type_set(int type);
int hd_expr_tensor_by_name(const struct hd_expr *f, const char *name); /* -1 = none */
int hd_expr_scalar_by_name(const struct hd_expr *f, const char *name);
bool hd_expr_is_size(const struct hd_expr *f, const char *name); /* named by a parameter */

/* resolve.c: what each name means; the rest of parsing. */
hd_status hd_expr_resolve(hd_ctx *ctx, struct hd_expr *f);
/* Variables in order: those of the left side, then reduced ones as they appear in the value. */
void hd_expr_order_vars(struct hd_expr *f, struct hd_expr_stmt *s);
/* names.c: sizes and scalars become numbers, "..." becomes variables. f is bind's own copy. */
hd_status hd_expr_bind_names(hd_ctx *ctx, struct hd_expr *f, const struct hd_expr_args *args);
hd_status hd_expr_bind_rest(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s);
/* types.c: the type of each node; casts of indexes. */
hd_status hd_expr_types(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s);
/* ranges.c: ranges of variables, shape of the result, accesses inside their tensors. */
hd_status hd_expr_ranges(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s);
hd_status hd_expr_bounds(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s);
/* Value of a node without variables and accesses; false = it is none. */
bool hd_expr_constant(const struct hd_expr *f, int node, int64_t *out);

#endif
