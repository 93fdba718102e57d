/* What operators, reductions and roundings are called; places in the text; look-ups. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/expr/expr_int.h"

enum { FLT = HD_SET_FLT, INT = HD_SET_INT, BOOL = HD_SET_BOOL, SAME = 0, TRUTH = 1 };

const struct hd_expr_info hd_expr_infos[HD_EXPR_OPS] = {
#define PREFIX(name, text, types, float_y, int_y)                                                  \
    [HD_EXPR_##name] = {text, HD_FORM_PREFIX, 9, 1, types, false},
#define INFIX(name, text, level, types, result, float_y, int_y, uint_y)                            \
    [HD_EXPR_##name] = {text, HD_FORM_INFIX, level, 2, types, result},
#define FUNCTION(name, types, float_y, int_y)                                                      \
    [HD_EXPR_##name] = {#name, HD_FORM_FUNCTION, 0, 1, types, false},
#define FUNCTION2(name, types, float_y, int_y, uint_y)                                             \
    [HD_EXPR_##name] = {#name, HD_FORM_FUNCTION, 0, 2, types, false},
#include "compiler/expr/expr.def"
};

const char *const hd_reduce_text[HD_REDUCES] = {
    "=", "+=", "*=", "max=", "min=", "argmax=", "argmin="};
const char *const hd_round_text[] = {"trunc", "even", "away", "floor", "ceil"};

hd_status hd_expr_fail(hd_ctx *ctx, const struct hd_expr *f, int at, const char *fmt, ...) {
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    int line = 1, column = 1;
    for (int i = 0; i < at && f->text[i]; i++) {
        column = f->text[i] == '\n' ? 1 : column + 1;
        line += f->text[i] == '\n';
    }
    int shown = (int)strcspn(f->text + at, "\n");
    return hd_fail(ctx, HD_INVALID, "expression, line %d, column %d ('%.*s'): %s", line, column,
                   shown < 24 ? shown : 24, f->text + at, what);
}

int hd_expr_new_node(struct hd_expr *f, enum hd_expr_op op, int at) {
    *hd_push(f->arena, f->node, f->n_nodes, f->cap_nodes) =
        (struct hd_expr_node){.op = op, .type = -1, .at = at};
    return (int)f->n_nodes - 1;
}

int hd_expr_type_set(int type) {
    switch (type) {
    case HD_F16:
    case HD_BF16:
    case HD_F32:
    case HD_F64:
        return HD_SET_FLT;
    case HD_I8:
    case HD_I16:
    case HD_I32:
    case HD_I64:
    case HD_U8:
    case HD_U16:
    case HD_U32:
    case HD_U64:
        return HD_SET_INT;
    case HD_BOOL:
        return HD_SET_BOOL;
    default:
        return 0;
    }
}

int hd_expr_tensor_by_name(const struct hd_expr *f, const char *name) {
    for (size_t i = 0; i < f->n_tensors; i++)
        if (!strcmp(f->tensor[i].name, name)) return (int)i;
    return -1;
}

int hd_expr_scalar_by_name(const struct hd_expr *f, const char *name) {
    for (size_t i = 0; i < f->n_scalars; i++)
        if (!strcmp(f->scalar[i].name, name)) return (int)i;
    return -1;
}

bool hd_expr_is_size(const struct hd_expr *f, const char *name) {
    for (int i = 0; i < f->n_params; i++)
        for (int d = 0; d < f->tensor[i].rank; d++)
            if (f->tensor[i].dim[d].name && !strcmp(f->tensor[i].dim[d].name, name)) return true;
    return false;
}

int64_t hd_expr_elems(const struct hd_expr_tensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= t->dim[d].value;
    return n;
}

bool hd_expr_uses(const struct hd_expr *f, int node, int v) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_VAR && k->i == v) return true;
    for (int i = 0; i < k->n; i++)
        if (hd_expr_uses(f, k->arg[i], v)) return true;
    return false;
}

int hd_expr_byte(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op != HD_EXPR_CAST || k->type != HD_I32) return -1;
    int x = k->arg[0];
    if (f->node[x].op == HD_EXPR_PAD) {
        if (f->node[f->node[x].arg[1]].op != HD_EXPR_INT) return -1;
        x = f->node[x].arg[0];
    }
    k = &f->node[x];
    bool byte = k->type == HD_I8 || k->type == HD_U8;
    return k->op == HD_EXPR_ACCESS && byte && !k->checked ? x : -1;
}
