/* Rewrites sums of products of bytes less their zero points: see rewrite.h. */
#include "compiler/expr/expr_int.h"
#include "compiler/expr/rewrite.h"

struct factor { /* i32(x) - z */
    int cast;   /* node i32(x) */
    int64_t z;
};

/* i32 of an i8 or a u8, less a constant. */
static bool find_factor(const struct hd_expr *f, int node, struct factor *out) {
    const struct hd_expr_node *k = &f->node[node];
    *out = (struct factor){node, 0};
    if (k->op == HD_EXPR_sub && f->node[k->arg[1]].op == HD_EXPR_INT)
        *out = (struct factor){k->arg[0], f->node[k->arg[1]].i};
    k = &f->node[out->cast];
    if (k->op != HD_EXPR_CAST || k->type != HD_I32) return false;
    const struct hd_expr_node *x = &f->node[k->arg[0]];
    return (x->type == HD_I8 || x->type == HD_U8) &&
           (x->op == HD_EXPR_ACCESS || x->op == HD_EXPR_PAD);
}

static int new_node(struct hd_expr *f, enum hd_expr_op op, int type, int a, int b) {
    int k = hd_expr_new_node(f, op, 0);
    f->node[k].type = type;
    f->node[k].n = (a >= 0) + (b >= 0);
    f->node[k].arg[0] = a;
    f->node[k].arg[1] = b;
    return k;
}

static int constant(struct hd_expr *f, int64_t v) {
    int k = new_node(f, HD_EXPR_INT, HD_I32, -1, -1);
    f->node[k].i = v;
    return k;
}

/* A copy in which variable v is var[v]. */
static int copy(struct hd_expr *f, int node, const int *var) {
    struct hd_expr_node k = f->node[node];
    for (int i = 0; i < k.n; i++) {
        int arg = copy(f, k.arg[i], var);
        k.arg[i] = arg;
    }
    if (k.op == HD_EXPR_VAR) k.i = var[k.i];
    int to = hd_expr_new_node(f, k.op, k.at);
    f->node[to] = k;
    return to;
}

/* In front of statement s: o[..] += cast over what s reduces; dims: the dimensions of s that o has.
 * Returns the tensor. */
static int sum_of(struct hd_expr *f, int s, int cast, int *dims, int *out_rank) {
    hd_push(f->arena, f->stmt, f->n_stmts, f->cap_stmts);
    for (int i = (int)f->n_stmts - 1; i > s; i--) f->stmt[i] = f->stmt[i - 1];
    const struct hd_expr_stmt sum = f->stmt[s];
    struct hd_expr_tensor *t = hd_push(f->arena, f->tensor, f->n_tensors, f->cap_tensors);
    int id = (int)f->n_tensors - 1, map[HD_EXPR_VARS] = {0};
    *t = (struct hd_expr_tensor){.name = hd_sprintf(f->arena, "hd_o%d", id), .type = HD_I32};
    struct hd_expr_stmt o = {.tensor = id, .reduce = HD_REDUCE_SUM};
    for (int d = 0; d < sum.rank; d++) {
        if (!hd_expr_uses(f, cast, sum.lhs[d])) continue;
        dims[o.rank] = d;
        map[sum.lhs[d]] = o.n_vars;
        f->tensor[id].dim[o.rank].value = sum.var[sum.lhs[d]].extent;
        o.lhs[o.rank++] = o.n_vars;
        o.var[o.n_vars++] = sum.var[sum.lhs[d]];
    }
    f->tensor[id].rank = *out_rank = o.rank;
    for (int v = 0; v < sum.n_vars; v++) {
        if (!sum.var[v].reduced) continue;
        map[v] = o.n_vars;
        o.var[o.n_vars++] = sum.var[v];
    }
    o.value = copy(f, cast, map);
    f->stmt[s] = o;
    return id;
}

/* z times tensor o, at the places that `access` reads the sum at. */
static int offset_at(struct hd_expr *f, int access, int o, const int *dims, int rank, int64_t z) {
    int k = new_node(f, HD_EXPR_ACCESS, HD_I32, -1, -1);
    f->node[k].i = o;
    f->node[k].n = rank;
    for (int d = 0; d < rank; d++) f->node[k].arg[d] = f->node[access].arg[dims[d]];
    return new_node(f, HD_EXPR_mul, HD_I32, constant(f, z), k);
}

static int find_access(const struct hd_expr *f, int node, int tensor) {
    const struct hd_expr_node *k = &f->node[node];
    if (k->op == HD_EXPR_ACCESS && k->i == tensor) return node;
    for (int i = 0; i < k->n; i++) {
        int found = find_access(f, k->arg[i], tensor);
        if (found >= 0) return found;
    }
    return -1;
}

static bool fits(const struct hd_expr *f, int s, struct factor *x) {
    const struct hd_expr_stmt *sum = &f->stmt[s];
    const struct hd_expr_node *k = &f->node[sum->value];
    if (sum->reduce != HD_REDUCE_SUM || k->op != HD_EXPR_mul || hd_expr_reader(f, s) < 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (!find_factor(f, k->arg[i], &x[i])) return false;
    for (int v = 0; v < sum->n_vars; v++)
        for (int i = 0; i < 2 && sum->var[v].reduced; i++)
            if (sum->var[v].extent > 1 && !hd_expr_uses(f, x[i].cast, v)) return false;
    return true;
}

/* Returns how many statements stand in front of s now. */
static int split(struct hd_expr *f, int s, const struct factor *x) {
    int tensor = f->stmt[s].tensor, more = 0, rank, dims[HD_EXPR_RANK];
    int access = find_access(f, f->stmt[hd_expr_reader(f, s)].value, tensor);
    int value = hd_expr_new_node(f, HD_EXPR_ACCESS, 0);
    f->node[value] = f->node[access];
    int whole = value;
    int64_t both = x[0].z * x[1].z;
    for (int v = 0; v < f->stmt[s].n_vars; v++)
        if (f->stmt[s].var[v].reduced) both *= f->stmt[s].var[v].extent;
    f->stmt[s].value = new_node(f, HD_EXPR_mul, HD_I32, x[0].cast, x[1].cast);
    for (int i = 0; i < 2; i++) {
        if (!x[1 - i].z) continue;
        int o = sum_of(f, s + more, x[i].cast, dims, &rank);
        more++;
        whole =
            new_node(f, HD_EXPR_sub, HD_I32, whole, offset_at(f, value, o, dims, rank, x[1 - i].z));
    }
    if (both) whole = new_node(f, HD_EXPR_add, HD_I32, whole, constant(f, (int32_t)both));
    if (whole != value) f->node[access] = f->node[whole];
    return more;
}

void hd_expr_split_offsets(struct hd_expr *f) {
    struct factor x[2];
    for (int s = 0; s < (int)f->n_stmts; s++)
        if (fits(f, s, x)) s += split(f, s, x);
}
