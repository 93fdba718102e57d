/* Custom operations as instructions of a compiled loop: those whose expression is one statement
 * that reads every operand as numpy would broadcast it. Others go to golden. */
#include "compiler/ir/expression.h"
#include "cpu_ref/cpu_loops.h"

struct custom {
    struct hd_loop_group *g;
    const struct hd_node *n;
    const struct hd_expr *f;
    const struct hd_expr_stmt *s;
};

static int value(const struct custom *c, int node);

static int ins(const struct custom *c, enum hd_jit_op op, int a, int b) {
    return hd_loop_ins(c->g, op, a, b, 0);
}

static int constant(const struct custom *c, double v) {
    int i = ins(c, HD_JIT_CONST, 0, 0);
    if (i >= 0) c->g->prog.ins[i].imm = (float)v;
    return i;
}

/* The indexes are the last ones of the left side; 0 where the operand has one element. */
static int access(const struct custom *c, const struct hd_expr_node *k) {
    const struct hd_expr_tensor *t = &c->f->tensor[k->i];
    if (k->i >= c->f->n_params || k->n > c->s->rank) return -1;
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *x = &c->f->node[k->arg[d]];
        int v = c->s->lhs[c->s->rank - k->n + d];
        bool same = x->op == HD_EXPR_VAR && x->i == v && t->dim[d].value == c->s->var[v].extent;
        bool one = x->op == HD_EXPR_INT && x->i == 0 && t->dim[d].value == 1;
        if (!same && !one) return -1;
    }
    return hd_loop_value(c->g, c->n->in[k->i]);
}

/* What is one instruction, of operands in this order or the other. */
static const struct {
    enum hd_expr_op op;
    enum hd_jit_op jit;
    bool swap;
} direct[] = {{HD_EXPR_neg, HD_JIT_NEG, false},      {HD_EXPR_abs, HD_JIT_ABS, false},
              {HD_EXPR_sqrt, HD_JIT_SQRT, false},    {HD_EXPR_exp, HD_JIT_EXP, false},
              {HD_EXPR_log, HD_JIT_LOG, false},      {HD_EXPR_erf, HD_JIT_ERF, false},
              {HD_EXPR_floor, HD_JIT_FLOOR, false},  {HD_EXPR_ceil, HD_JIT_CEIL, false},
              {HD_EXPR_round, HD_JIT_ROUND, false},  {HD_EXPR_sigmoid, HD_JIT_SIGMOID, false},
              {HD_EXPR_tanh, HD_JIT_TANH, false},    {HD_EXPR_add, HD_JIT_ADD, false},
              {HD_EXPR_sub, HD_JIT_SUB, false},      {HD_EXPR_mul, HD_JIT_MUL, false},
              {HD_EXPR_div, HD_JIT_DIV, false},      {HD_EXPR_max, HD_JIT_MAX, false},
              {HD_EXPR_min, HD_JIT_MIN, false},      {HD_EXPR_lt, HD_JIT_LESS, false},
              {HD_EXPR_gt, HD_JIT_LESS, true},       {HD_EXPR_le, HD_JIT_LESS_EQUAL, false},
              {HD_EXPR_ge, HD_JIT_LESS_EQUAL, true}, {HD_EXPR_eq, HD_JIT_EQUAL, false},
              {HD_EXPR_and, HD_JIT_AND, false},      {HD_EXPR_or, HD_JIT_OR, false},
              {HD_EXPR_xor, HD_JIT_XOR, false},      {HD_EXPR_not, HD_JIT_NOT, false}};

static int operator(const struct custom *c, const struct hd_expr_node *k) {
    bool truth = c->f->node[k->arg[0]].type == HD_BOOL;
    bool logic =
        k->op == HD_EXPR_and || k->op == HD_EXPR_or || k->op == HD_EXPR_xor || k->op == HD_EXPR_not;
    if (truth != logic) return -1; /* == of truth values has no instruction */
    int a = value(c, k->arg[0]), b = k->n > 1 ? value(c, k->arg[1]) : 0;
    if (a < 0 || b < 0) return -1;
    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++)
        if (direct[i].op == k->op)
            return direct[i].swap ? ins(c, direct[i].jit, b, a) : ins(c, direct[i].jit, a, b);
    switch (k->op) {
    case HD_EXPR_ne:
        return ins(c, HD_JIT_NOT, ins(c, HD_JIT_EQUAL, a, b), 0);
    case HD_EXPR_expm1:
        return ins(c, HD_JIT_SUB, ins(c, HD_JIT_EXP, a, 0), constant(c, 1));
    case HD_EXPR_log1p:
        return ins(c, HD_JIT_LOG, ins(c, HD_JIT_ADD, constant(c, 1), a), 0);
    default:
        return -1;
    }
}

static int value(const struct custom *c, int node) {
    const struct hd_expr_node *k = &c->f->node[node];
    if (k->type != HD_F32 && k->type != HD_BOOL) return -1;
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        return k->type == HD_F32 ? constant(c, k->f) : -1;
    case HD_EXPR_ACCESS:
        return access(c, k);
    case HD_EXPR_SELECT:
        if (k->type != HD_F32) return -1;
        return hd_loop_ins(c->g, HD_JIT_SELECT, value(c, k->arg[0]), value(c, k->arg[1]),
                           value(c, k->arg[2]));
    case HD_EXPR_VAR:
    case HD_EXPR_PAD:
    case HD_EXPR_CAST:
        return -1;
    default:
        return operator(c, k);
    }
}

int hd_loop_custom(struct hd_loop_group *g, const struct hd_node *n) {
    const struct hd_tensor *in[HD_EXPR_TENSORS];
    struct hd_expr *f;
    if (n->n_out != 1 || n->n_in > HD_EXPR_TENSORS) return -1;
    for (int i = 0; i < n->n_in; i++) in[i] = n->in[i] < 0 ? NULL : &g->p->g->tensors[n->in[i]];
    hd_status s = hd_expression_bind(g->p->ctx, g->p->arena, n, hd_attr_string(n, "expression", ""),
                                     n->n_in, in, &f);
    if (s != HD_OK) {
        hd_clear(g->p->ctx);
        return -1;
    }
    struct custom c = {g, n, f, &f->stmt[0]};
    bool fits = f->n_stmts == 1 && f->stmt[0].reduce == HD_REDUCE_NONE;
    return fits ? value(&c, f->stmt[0].value) : -1;
}
