/* Index expressions over loops: making, expanding, comparing them. */
#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

static int new_node(struct hd_lowering *l, enum hd_expr_op op, int type) {
    int k = hd_expr_new_node(l->f, op, 0);
    l->f->node[k].type = type;
    return k;
}

int hd_node_int(struct hd_lowering *l, int64_t v) {
    int k = new_node(l, HD_EXPR_INT, HD_I64);
    l->f->node[k].i = v;
    l->f->node[k].f = (double)v;
    return k;
}

int hd_node_loop(struct hd_lowering *l, int loop) {
    int k = new_node(l, HD_EXPR_VAR, HD_I64);
    l->f->node[k].i = loop;
    return k;
}

static bool is_int(const struct hd_lowering *l, int node, int64_t v) {
    return l->f->node[node].op == HD_EXPR_INT && l->f->node[node].i == v;
}

int hd_node_of(struct hd_lowering *l, enum hd_expr_op op, int a, int b) {
    if (op == HD_EXPR_add && is_int(l, a, 0)) return b;
    if ((op == HD_EXPR_add || op == HD_EXPR_sub) && is_int(l, b, 0)) return a;
    if ((op == HD_EXPR_mul || op == HD_EXPR_div) && is_int(l, b, 1)) return a;
    int k = new_node(l, op, hd_expr_infos[op].truth || op == HD_EXPR_and ? HD_BOOL : HD_I64);
    l->f->node[k].n = 2;
    l->f->node[k].arg[0] = a;
    l->f->node[k].arg[1] = b;
    return k;
}

int hd_node_access(struct hd_lowering *l, int tensor, int n, const int *index) {
    int k = new_node(l, HD_EXPR_ACCESS, l->f->tensor[tensor].type);
    l->f->node[k].i = tensor;
    l->f->node[k].n = n;
    for (int d = 0; d < n; d++) l->f->node[k].arg[d] = index[d];
    return k;
}

/* (a * n + b) / n and % n of a loop b below n: a and b. What split and pack, or split and fuse,
 * make of each other. */
static int whole_part(struct hd_lowering *l, enum hd_expr_op op, int x, int n) {
    const struct hd_expr_node *sum = &l->f->node[x];
    if ((op != HD_EXPR_div && op != HD_EXPR_mod) || sum->op != HD_EXPR_add) return -1;
    const struct hd_expr_node *product = &l->f->node[sum->arg[0]], *b = &l->f->node[sum->arg[1]];
    if (product->op != HD_EXPR_mul || b->op != HD_EXPR_VAR || l->f->node[n].op != HD_EXPR_INT)
        return -1;
    if (!hd_same_node(l->f, product->arg[1], n) || l->nest->loop[b->i].extent > l->f->node[n].i)
        return -1;
    return op == HD_EXPR_div ? product->arg[0] : sum->arg[1];
}

int hd_node_expand(struct hd_lowering *l, const struct hd_stage *g, int node) {
    const struct hd_expr_node old = l->f->node[node];
    if (old.op == HD_EXPR_VAR && g) return hd_node_expand(l, NULL, g->var[old.i]);
    if (old.op == HD_EXPR_VAR && l->definition[old.i] >= 0)
        return hd_node_expand(l, NULL, l->definition[old.i]);
    int arg[HD_EXPR_RANK] = {0};
    for (int i = 0; i < old.n; i++) arg[i] = hd_node_expand(l, g, old.arg[i]);
    int part = old.n == 2 ? whole_part(l, old.op, arg[0], arg[1]) : -1;
    if (part >= 0) return part;
    int k = new_node(l, old.op, old.type);
    l->f->node[k] = old;
    for (int i = 0; i < old.n; i++) l->f->node[k].arg[i] = arg[i];
    return k;
}

bool hd_same_node(const struct hd_expr *f, int a, int b) {
    const struct hd_expr_node *x = &f->node[a], *y = &f->node[b];
    if (x->op != y->op || x->n != y->n || x->type != y->type || x->i != y->i ||
        x->round != y->round || x->saturate != y->saturate)
        return false;
    if (x->op == HD_EXPR_FLOAT && x->f != y->f) return false;
    for (int i = 0; i < x->n; i++)
        if (!hd_same_node(f, x->arg[i], y->arg[i])) return false;
    return true;
}
