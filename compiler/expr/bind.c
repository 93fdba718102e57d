/* Binding: a copy of an expression in which all shapes, types and ranges are known. */
#include <string.h>

#include "compiler/expr/expr_int.h"

static struct hd_expr *copy(hd_arena *a, const struct hd_expr *f) {
    struct hd_expr *b = hd_new(a, struct hd_expr);
    *b = *f;
    b->arena = a;
    b->node = hd_dup(a, f->node, f->n_nodes * sizeof *f->node);
    b->tensor = hd_dup(a, f->tensor, f->n_tensors * sizeof *f->tensor);
    b->scalar = hd_dup(a, f->scalar, f->n_scalars * sizeof *f->scalar);
    b->stmt = hd_dup(a, f->stmt, f->n_stmts * sizeof *f->stmt);
    b->result = hd_dup(a, f->result, f->n_results * sizeof *f->result);
    b->cap_nodes = b->n_nodes;
    b->cap_tensors = b->n_tensors;
    b->cap_scalars = b->n_scalars;
    b->cap_stmts = b->n_stmts;
    b->cap_results = b->n_results;
    return b;
}

hd_status hd_expr_bind(hd_ctx *ctx, hd_arena *a, const struct hd_expr *f,
                       const struct hd_expr_args *args, struct hd_expr **out) {
    struct hd_expr *b = copy(a, f);
    TRY(hd_expr_bind_names(ctx, b, args));
    for (size_t i = 0; i < b->n_stmts; i++) {
        struct hd_expr_stmt *s = &b->stmt[i];
        TRY(hd_expr_bind_rest(ctx, b, s));
        TRY(hd_expr_types(ctx, b, s));
        TRY(hd_expr_ranges(ctx, b, s));
        TRY(hd_expr_bounds(ctx, b, s));
        bool empty = false;
        for (int v = 0; v < s->n_vars; v++)
            empty = empty || (s->var[v].reduced && !s->var[v].extent);
        if (empty && s->reduce >= HD_REDUCE_ARGMAX)
            return hd_expr_fail(ctx, b, s->at, "%s over a range of length 0",
                                hd_reduce_text[s->reduce]);
    }
    b->bound = true;
    *out = b;
    return HD_OK;
}
