/* Rewrites of bound expressions: see rewrite.h. */
#include "compiler/expr/rewrite.h"

#include <string.h>

#include "compiler/expr/expr_int.h"

/* ---- narrow --------------------------------------------------------------------------------- */

void hd_expr_narrow(struct hd_expr *f) {
    for (size_t i = 0; i < f->n_tensors;
         i++) /* a tensor of the outside is read and written as is */
        if (f->tensor[i].type == HD_F64 && (f->tensor[i].param || f->tensor[i].result)) return;
    for (size_t i = 0; i < f->n_tensors; i++)
        if (f->tensor[i].type == HD_F64) f->tensor[i].type = HD_F32;
    for (size_t i = 0; i < f->n_nodes; i++)
        if (f->node[i].type == HD_F64) f->node[i].type = HD_F32;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static int count_reads(const struct hd_expr *f, int node, int tensor, int *out_access) {
    const struct hd_expr_node *k = &f->node[node];
    int n = k->op == HD_EXPR_ACCESS && k->i == tensor;
    if (n) *out_access = node;
    for (int i = 0; i < k->n; i++) n += count_reads(f, k->arg[i], tensor, out_access);
    return n;
}

static bool padded(const struct hd_expr *f, int node, int access) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_PAD && k->arg[0] == access) return true;
    for (int i = 0; i < k->n; i++)
        if (padded(f, k->arg[i], access)) return true;
    return false;
}

/* Each element is read once, or a few times by the same element of the reader. */
static bool one_to_one(const struct hd_expr *f, const struct hd_expr_stmt *r, int access) {
    const struct hd_expr_node *k = &f->node[access];
    bool seen[HD_EXPR_VARS] = {0};
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *x = &f->node[k->arg[d]];
        if (x->op == HD_EXPR_INT) continue;
        if (x->op != HD_EXPR_VAR || seen[x->i]) return false;
        seen[x->i] = true;
    }
    for (int v = 0; v < r->n_vars; v++)
        if (!seen[v] && r->var[v].extent != 1) return false;
    return true;
}

/* All reads of the tensor below the node are of the same element. */
static bool same_reads(const struct hd_expr *f, int node, int tensor, int access) {
    const struct hd_expr_node *k = &f->node[node], *first = &f->node[access];
    for (int i = 0; i < k->n; i++) {
        if (!same_reads(f, k->arg[i], tensor, access)) return false;
        if (k->op != HD_EXPR_ACCESS || k->i != tensor) continue;
        const struct hd_expr_node *x = &f->node[k->arg[i]], *y = &f->node[first->arg[i]];
        if (x->op != y->op || x->i != y->i || x->n) return false;
    }
    return true;
}

int hd_expr_reader(const struct hd_expr *f, int s) {
    int tensor = f->stmt[s].tensor, reader = -1, access = -1;
    if (f->tensor[tensor].result) return -1;
    for (size_t i = 0; i < f->n_stmts; i++) {
        int n = count_reads(f, f->stmt[i].value, tensor, &access);
        if (!n) continue;
        if (reader >= 0 || !same_reads(f, f->stmt[i].value, tensor, access)) return -1;
        reader = (int)i;
    }
    if (reader < 0 || f->stmt[reader].reduce != HD_REDUCE_NONE) return -1;
    bool fits = !padded(f, f->stmt[reader].value, access) && !f->node[access].checked &&
                one_to_one(f, &f->stmt[reader], access);
    return fits ? reader : -1;
}

/* tensor[..] = acc[..] behind statement s, which now defines acc. */
static void split_one(struct hd_expr *f, int s) {
    struct hd_expr_tensor *acc = hd_push(f->arena, f->tensor, f->n_tensors, f->cap_tensors);
    int tensor = f->stmt[s].tensor, id = (int)f->n_tensors - 1;
    *acc = f->tensor[tensor];
    acc->name = hd_sprintf(f->arena, "%s_sum", f->tensor[tensor].name);
    acc->result = false;
    int access = hd_expr_new_node(f, HD_EXPR_ACCESS, 0);
    f->node[access].type = acc->type;
    f->node[access].i = id;
    f->node[access].n = acc->rank;
    for (int d = 0; d < f->tensor[id].rank; d++) {
        int v = hd_expr_new_node(f, HD_EXPR_VAR, 0);
        f->node[v].type = HD_I64;
        f->node[v].i = d;
        f->node[access].arg[d] = v;
    }
    hd_push(f->arena, f->stmt, f->n_stmts, f->cap_stmts);
    memmove(&f->stmt[s + 2], &f->stmt[s + 1], (f->n_stmts - (size_t)s - 2) * sizeof *f->stmt);
    struct hd_expr_stmt *sum = &f->stmt[s], *copy = &f->stmt[s + 1];
    *copy = (struct hd_expr_stmt){.tensor = tensor, .rank = sum->rank, .n_vars = sum->rank};
    for (int d = 0; d < sum->rank; d++) {
        copy->var[d] = sum->var[sum->lhs[d]];
        copy->lhs[d] = d;
    }
    copy->value = access;
    sum->tensor = id;
}

void hd_expr_split_sums(struct hd_expr *f) {
    for (int s = 0; s < (int)f->n_stmts; s++)
        if (f->stmt[s].reduce != HD_REDUCE_NONE && hd_expr_reader(f, s) < 0 &&
            f->tensor[f->stmt[s].tensor].rank)
            split_one(f, s++);
}
