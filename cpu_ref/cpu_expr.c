/* A node as instructions of a compiled loop: see cpu_loops.h. What it computes is its expression
 * (compiler/ir/meaning.def, or its own); here is how the statements of one become instructions over
 * the group's elements and rows. f32 and truth values only, f64 on the way is computed in f32;
 * what does not fit goes to golden. */
#include <math.h>
#include <string.h>

#include "compiler/expr/eval.h"
#include "compiler/ir/expression.h"
#include "cpu_ref/cpu_loops.h"

/* Operations that gain from a loop; data movement and windows have step makers of their own. */
static const bool wanted[HD_IR_OPS] = {
#define ACTIVATION(op, ...) [HD_IR_##op] = true,
#define NUMBER(op, ...)     [HD_IR_##op] = true,
#define BINARY(op, ...)     [HD_IR_##op] = true,
#include "compiler/ir/elem.def"
#define WANT(op) [HD_IR_##op] = true
    WANT(gelu),
    WANT(pow),
    WANT(clip),
    WANT(where),
    WANT(reducesum),
    WANT(reducemean),
    WANT(reducemax),
    WANT(reducemin),
    WANT(reducel1),
    WANT(reducel2),
    WANT(reducelogsum),
    WANT(reducelogsumexp),
    WANT(reducesumsquare),
    WANT(softmax),
    WANT(logsoftmax),
    WANT(layernorm),
    WANT(instancenorm),
    WANT(batchnorm),
    WANT(expression),
    WANT(not )};

struct made {              /* a tensor of the expression */
    int ins;               /* -1: not an instruction */
    int dim[HD_EXPR_RANK]; /* the group's dimension that each of its own runs over, -1 = one element
                            */
    float *constant;       /* not NULL: known now */
};

struct translation {
    struct hd_loop_group *g;
    const struct hd_node *n;
    const struct hd_expr *f;
    const struct hd_expr_stmt *s;
    struct made made[HD_EXPR_TENSORS];
    const void *data[HD_EXPR_TENSORS]; /* of constants, as their type */
    int dim[HD_EXPR_VARS];             /* the group's dimension of a variable of s, -1 = none */
};

static int value(struct translation *t, int node);

/* ---- instructions --------------------------------------------------------------------------- */

/* The same instruction is there once. */
static int ins(struct translation *t, enum hd_jit_op op, int a, int b, int c) {
    const struct hd_jit_program *p = &t->g->prog;
    for (int i = 0; i < p->n_ins; i++)
        if (p->ins[i].op == (int)op && p->ins[i].a == a && p->ins[i].b == b && p->ins[i].c == c)
            return i;
    return hd_loop_ins(t->g, op, a, b, c);
}

static int constant(struct translation *t, double v) {
    struct hd_jit_program *p = &t->g->prog;
    float f = (float)v;
    for (int i = 0; i < p->n_ins; i++)
        if (p->ins[i].op == HD_JIT_CONST && !memcmp(&p->ins[i].imm, &f, sizeof f)) return i;
    int i = hd_loop_ins(t->g, HD_JIT_CONST, 0, 0, 0);
    if (i >= 0) p->ins[i].imm = f;
    return i;
}

static bool is_constant(const struct translation *t, int i, float *out) {
    *out = t->g->prog.ins[i].imm;
    return t->g->prog.ins[i].op == HD_JIT_CONST;
}

/* a to a constant power that few products, a root or a quotient give. */
static int power(struct translation *t, int a, int b) {
    float e;
    if (!is_constant(t, b, &e)) return -1;
    int square = e == 3 || e == 4 || e == 2 ? ins(t, HD_JIT_MUL, a, a, 0) : -1;
    if (e == 1) return a;
    if (e == 2) return square;
    if (e == 3) return ins(t, HD_JIT_MUL, a, square, 0);
    if (e == 4) return ins(t, HD_JIT_MUL, square, square, 0);
    if (e == 0.5f) return ins(t, HD_JIT_SQRT, a, 0, 0);
    if (e == -0.5f) return ins(t, HD_JIT_DIV, constant(t, 1), ins(t, HD_JIT_SQRT, a, 0, 0), 0);
    return e == -1 ? ins(t, HD_JIT_DIV, constant(t, 1), a, 0) : -1;
}

/* What is one instruction, of operands in this order or the other. */
static const struct {
    bool here, swap;
    enum hd_jit_op jit;
} direct[HD_EXPR_OPS] = {
#define DIRECT(op, jit) [HD_EXPR_##op] = {true, false, HD_JIT_##jit}
#define SWAP(op, jit)   [HD_EXPR_##op] = {true, true, HD_JIT_##jit}
    DIRECT(neg, NEG),     DIRECT(abs, ABS),        DIRECT(sqrt, SQRT),   DIRECT(exp, EXP),
    DIRECT(log, LOG),     DIRECT(erf, ERF),        DIRECT(floor, FLOOR), DIRECT(ceil, CEIL),
    DIRECT(round, ROUND), DIRECT(tanh, TANH),      DIRECT(add, ADD),     DIRECT(sub, SUB),
    DIRECT(mul, MUL),     DIRECT(div, DIV),        DIRECT(max, MAX),     DIRECT(min, MIN),
    DIRECT(lt, LESS),     SWAP(gt, LESS),          DIRECT(eq, EQUAL),    DIRECT(le, LESS_EQUAL),
    DIRECT(and, AND),     SWAP(ge, LESS_EQUAL),    DIRECT(or, OR),       DIRECT(xor, XOR),
    DIRECT(not, NOT),     DIRECT(sigmoid, SIGMOID)};

/* Operands that change nothing, and the limits of clamp: one comparison is enough beside a number.
 * -1 = nothing special. */
static int simpler(struct translation *t, enum hd_expr_op op, int a, int b) {
    float v, w;
    if (is_constant(t, a, &w) && w == 0 && op == HD_EXPR_add) return b;
    if (!is_constant(t, b, &v)) return -1;
    if (v == 0 && (op == HD_EXPR_add || op == HD_EXPR_sub)) return a;
    if (v == 1 && (op == HD_EXPR_mul || op == HD_EXPR_div)) return a;
    if (v != v || (op != HD_EXPR_max && op != HD_EXPR_min)) return -1;
    bool max = op == HD_EXPR_max;
    int below = ins(t, HD_JIT_LESS_EQUAL, max ? a : b, max ? b : a, 0);
    return below < 0 ? -1 : ins(t, HD_JIT_SELECT, below, b, a);
}

static int operator(struct translation *t, const struct hd_expr_node *k) {
    bool truth = t->f->node[k->arg[0]].type == HD_BOOL;
    bool logic =
        k->op == HD_EXPR_and || k->op == HD_EXPR_or || k->op == HD_EXPR_xor || k->op == HD_EXPR_not;
    if (truth != logic) return -1; /* == of truth values has no instruction */
    int a = value(t, k->arg[0]), b = k->n > 1 ? value(t, k->arg[1]) : 0;
    if (a < 0 || b < 0) return -1;
    int same = k->n > 1 && !truth ? simpler(t, k->op, a, b) : -1;
    if (same >= 0) return same;
    if (direct[k->op].here)
        return direct[k->op].swap ? ins(t, direct[k->op].jit, b, a, 0)
                                  : ins(t, direct[k->op].jit, a, b, 0);
    switch (k->op) {
    case HD_EXPR_ne:
        return ins(t, HD_JIT_NOT, ins(t, HD_JIT_EQUAL, a, b, 0), 0, 0);
    case HD_EXPR_expm1:
        return ins(t, HD_JIT_SUB, ins(t, HD_JIT_EXP, a, 0, 0), constant(t, 1), 0);
    case HD_EXPR_log1p:
        return ins(t, HD_JIT_LOG, ins(t, HD_JIT_ADD, constant(t, 1), a, 0), 0, 0);
    case HD_EXPR_pow:
        return power(t, a, b);
    default:
        return -1;
    }
}

/* ---- elements ------------------------------------------------------------------------------- */

/* Strides over the group of a dense tensor of the expression at these indexes; false = not by the
 * group's loops. */
static bool strides(const struct translation *t, const struct hd_expr_node *k, int64_t *stride) {
    const struct hd_expr_tensor *x = &t->f->tensor[k->i];
    int64_t step = 1;
    memset(stride, 0, HD_MAX_RANK * sizeof *stride);
    for (int d = k->n - 1; d >= 0; step *= x->dim[d--].value) {
        const struct hd_expr_node *i = &t->f->node[k->arg[d]];
        if (x->dim[d].value == 1) continue; /* bounds are checked: the index is 0 */
        if (i->op != HD_EXPR_VAR || t->dim[i->i] < 0 || stride[t->dim[i->i]]) return false;
        if (x->dim[d].value != t->g->dim[t->dim[i->i]]) return false;
        stride[t->dim[i->i]] = step;
    }
    return true;
}

/* The strides are those that numpy's broadcasting gives. */
static bool broadcasts(const struct hd_loop_group *g, const struct hd_expr_tensor *x,
                       const int64_t *stride) {
    int64_t step = 1;
    for (int d = g->rank - 1; d >= 0; d--) {
        int from = d - (g->rank - x->rank);
        int64_t size = from < 0 ? 1 : x->dim[from].value;
        if (stride[d] != (size == 1 ? 0 : step)) return false;
        step *= size;
    }
    return x->rank <= g->rank;
}

static int access(struct translation *t, const struct hd_expr_node *k) {
    const struct made *from = &t->made[k->i];
    int64_t stride[HD_MAX_RANK];
    if (k->i >= t->f->n_params && !from->constant) { /* an instruction, at its own place */
        for (int d = 0; d < k->n; d++) {
            const struct hd_expr_node *i = &t->f->node[k->arg[d]];
            bool one = from->dim[d] < 0;
            if (!one && (i->op != HD_EXPR_VAR || t->dim[i->i] != from->dim[d])) return -1;
        }
        return from->ins;
    }
    if (!strides(t, k, stride)) return -1;
    if (from->constant) return hd_loop_data(t->g, from->constant, stride);
    int id = t->n->in[k->i];
    if (broadcasts(t->g, &t->f->tensor[k->i], stride)) return hd_loop_value(t->g, id);
    const float *v = hd_cpu_const(t->g->p, id);
    return v && k->type == HD_F32 ? hd_loop_data(t->g, v, stride) : -1;
}

static bool is_float(int type) {
    return type == HD_F32 || type == HD_F64;
}

static int cast(struct translation *t, const struct hd_expr_node *k) {
    int from = t->f->node[k->arg[0]].type, x = value(t, k->arg[0]);
    if (x < 0 || from == k->type || (is_float(from) && is_float(k->type))) return x;
    if (from == HD_BOOL) return ins(t, HD_JIT_SELECT, x, constant(t, 1), constant(t, 0));
    return ins(t, HD_JIT_NOT, ins(t, HD_JIT_EQUAL, x, constant(t, 0), 0), 0, 0);
}

/* The instruction that makes node; -1 = there is none. */
static int value(struct translation *t, int node) {
    const struct hd_expr_node *k = &t->f->node[node];
    if (!is_float(k->type) && k->type != HD_BOOL) return -1;
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        return k->type == HD_BOOL ? -1 : constant(t, k->f);
    case HD_EXPR_ACCESS:
        return access(t, k);
    case HD_EXPR_CAST:
        return cast(t, k);
    case HD_EXPR_SELECT: {
        int c = value(t, k->arg[0]), a = value(t, k->arg[1]), b = value(t, k->arg[2]);
        return k->type == HD_BOOL || c < 0 || a < 0 || b < 0 ? -1 : ins(t, HD_JIT_SELECT, c, a, b);
    }
    case HD_EXPR_VAR:
    case HD_EXPR_PAD:
        return -1;
    default:
        return operator(t, k);
    }
}

/* ---- statements ----------------------------------------------------------------------------- */

/* Variables that stand alone in an index run over the group's dimension that the tensor has there:
 * a temporary's own, or an operand's of the group's rank. */
static void place_vars(struct translation *t, int node) {
    const struct hd_expr_node *k = &t->f->node[node];
    for (int i = 0; i < k->n; i++) place_vars(t, k->arg[i]);
    if (k->op != HD_EXPR_ACCESS) return;
    bool param = k->i < t->f->n_params;
    if (t->made[k->i].constant || (param && k->n != t->g->rank)) return;
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *i = &t->f->node[k->arg[d]];
        if (i->op != HD_EXPR_VAR || t->s->var[i->i].extent == 1) continue;
        int dim = param ? d : t->made[k->i].dim[d];
        if (dim >= 0 && t->dim[i->i] < 0 && t->s->var[i->i].extent == t->g->dim[dim])
            t->dim[i->i] = dim;
    }
}

static void place(struct translation *t) {
    const struct hd_expr_stmt *s = t->s;
    bool full = s->rank == t->g->rank && s->reduce == HD_REDUCE_NONE;
    for (int v = 0; v < HD_EXPR_VARS; v++) t->dim[v] = -1;
    for (int d = 0; d < s->rank && full; d++) full = s->var[s->lhs[d]].extent == t->g->dim[d];
    for (int d = 0; d < s->rank && full; d++)
        if (t->g->dim[d] != 1) t->dim[s->lhs[d]] = d;
    if (!full) place_vars(t, s->value);
}

/* The group's reductions run over the last `red` dimensions, or from now on over these. */
static bool reduce_over(struct hd_loop_group *g, int red) {
    if (g->md || red < 1 || (g->red && g->red != red)) return false;
    for (int i = 0; i < g->prog.n_ptrs && !g->red; i++) { /* all must be rows: dense or constant */
        int64_t step = 1;
        const struct hd_loop_ptr *q = &g->ptr[i];
        bool dense = true, fixed = true;
        for (int d = g->rank - 1; d >= g->rank - red; d--) {
            if (g->dim[d] == 1) continue;
            dense = dense && q->stride[d] == step;
            fixed = fixed && q->stride[d] == 0;
            step *= g->dim[d];
        }
        if (!dense && !fixed) return false;
    }
    g->red = red;
    return true;
}

/* How many dimensions at the end the statement reduces, with those of size 1 in front of them; 0 =
 * none but such of size 1; -1 = others than the last. */
static int reduced_dims(const struct translation *t) {
    const struct hd_loop_group *g = t->g;
    bool set[HD_MAX_RANK] = {false};
    int first = g->rank;
    for (int v = 0; v < t->s->n_vars; v++) {
        const struct hd_expr_var *x = &t->s->var[v];
        if (!x->reduced || x->extent == 1) continue;
        if (t->dim[v] < 0) return -1;
        set[t->dim[v]] = true;
        if (t->dim[v] < first) first = t->dim[v];
    }
    if (first == g->rank) return 0;
    for (int d = first; d < g->rank; d++)
        if (!set[d] && g->dim[d] != 1) return -1;
    while (first > 0 && g->dim[first - 1] == 1) first--;
    return g->rank - first;
}

static int reduction(struct translation *t) {
    static const struct {
        enum hd_expr_reduce reduce;
        enum hd_jit_op jit;
    } rows[] = {{HD_REDUCE_SUM, HD_JIT_ROW_SUM},
                {HD_REDUCE_MAX, HD_JIT_ROW_MAX},
                {HD_REDUCE_MIN, HD_JIT_ROW_MIN}};
    int red = reduced_dims(t);
    if (red == 0 && t->s->reduce <= HD_REDUCE_MIN)
        return value(t, t->s->value); /* of one element */
    if (!reduce_over(t->g, red)) return -1;
    int x = value(t, t->s->value);
    for (size_t i = 0; x >= 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].reduce == t->s->reduce) return ins(t, rows[i].jit, x, 0, 0);
    return -1;
}

static bool all_constant(const struct translation *t, int node) {
    const struct hd_expr_node *k = &t->f->node[node];
    if (k->op == HD_EXPR_ACCESS && !t->data[k->i]) return false;
    for (int i = 0; i < k->n; i++)
        if (!all_constant(t, k->arg[i])) return false;
    return true;
}

/* A statement of constants is computed now. */
static void fold(struct translation *t) {
    const struct hd_expr_tensor *y = &t->f->tensor[t->s->tensor];
    int64_t var[HD_EXPR_VARS] = {0}, n = hd_expr_elems(y);
    struct hd_eval e = {.f = t->f, .data = t->data, .var = var};
    hd_arena *a = t->g->p->arena;
    void *data = hd_alloc(a, (size_t)n * hd_dtype_bytes((hd_dtype)y->type) + 1);
    float *v = hd_new_array(a, float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        for (int d = y->rank - 1; d >= 0; at /= y->dim[d--].value)
            var[t->s->lhs[d]] = at % y->dim[d].value;
        union hd_scalar x = hd_eval_node(&e, t->s->value);
        hd_scalar_store(data, y->type, i, x);
        v[i] = (float)x.f;
    }
    t->data[t->s->tensor] = data;
    t->made[t->s->tensor].constant = v;
}

/* False = the statement has no instructions. */
static bool statement(struct translation *t, const struct hd_expr_stmt *s) {
    struct made *y = &t->made[s->tensor];
    t->s = s;
    bool none = s->reduce == HD_REDUCE_NONE;
    if (none && is_float(t->f->tensor[s->tensor].type) && hd_expr_elems(&t->f->tensor[s->tensor]) &&
        all_constant(t, s->value)) {
        fold(t);
        return true;
    }
    place(t);
    for (int d = 0; d < s->rank; d++) y->dim[d] = t->dim[s->lhs[d]];
    for (int d = 0; d < s->rank; d++)
        if (y->dim[d] < 0 && s->var[s->lhs[d]].extent != 1) return false;
    y->ins = none ? value(t, s->value) : reduction(t);
    return y->ins >= 0;
}

/* Result 0 has the group's shape, or that of its rows with or without the dimensions reduced. */
static bool shape_fits(const struct translation *t, int tensor, bool *out_alone) {
    const struct hd_loop_group *g = t->g;
    const struct hd_tensor *y = &g->p->g->tensors[t->n->out[0]];
    const struct made *m = &t->made[tensor];
    bool full = y->rank == g->rank, row = hd_loop_row_shape(g, y);
    int next = 0;
    for (int d = 0; d < y->rank && full; d++) full = y->dim[d] == g->dim[d];
    for (int d = 0; d < y->rank; d++) { /* in order, none left out */
        if (m->dim[d] < 0) continue;
        for (; next < m->dim[d]; next++)
            if (g->dim[next] != 1) return false;
        if (m->dim[d] != next++) return false;
    }
    for (; next < g->rank - (full ? 0 : g->red); next++)
        if (g->dim[next] != 1) return false;
    *out_alone = !full && !row;
    return true;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

bool hd_loop_knows(const struct hd_cpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    if (!wanted[n->op] || n->n_out < 1 || n->out[0] < 0 || n->n_in < 1 || n->n_in > 16)
        return false;
    for (int i = 1; i < n->n_out; i++)
        if (n->out[i] >= 0) return false;
    for (int i = 0; i <= n->n_in; i++) {
        int t = i < n->n_in ? n->in[i] : n->out[0];
        hd_dtype type = t < 0 ? HD_F32 : p->g->tensors[t].dtype;
        bool axes = i == 1 && n->op >= HD_IR_reducesum && n->op <= HD_IR_reducesumsquare;
        if (type != HD_F32 && type != HD_BOOL && !axes) return false;
    }
    return true;
}

/* The node's expression, made once in a plan; NULL = it has none. */
static const struct hd_expr *expression_of(struct hd_cpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_tensor *copy = hd_new_array(p->arena, struct hd_tensor, (size_t)n->n_in + 1);
    const struct hd_tensor **in = hd_new_array(p->arena, const struct hd_tensor *, 17);
    struct hd_expr *f = NULL;
    if (p->loop_seen[node]) return p->loop_expr[node];
    p->loop_seen[node] = true;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0) continue;
        copy[i] = p->g->tensors[n->in[i]];
        copy[i].data = (void *)(uintptr_t)hd_cpu_const(p, n->in[i]);
        in[i] = &copy[i];
    }
    const char *text = hd_expression_of(p->arena, n, n->n_in, in, &p->g->tensors[n->out[0]]);
    if (text && hd_expression_bind(p->ctx, p->arena, n, text, n->n_in, in, &f) != HD_OK) {
        hd_clear(p->ctx);
        f = NULL;
    }
    if (f && (f->n_results != 1 || f->stmt[f->n_stmts - 1].tensor != f->result[0])) f = NULL;
    p->loop_expr[node] = f;
    return f;
}

bool hd_loop_add(struct hd_loop_group *g, int node) {
    const struct hd_node *n = &g->p->g->nodes[node];
    bool alone = false;
    if (!hd_loop_knows(g->p, node) || g->n_nodes == HD_LOOP_VALUES) return false;
    const struct hd_expr *f = expression_of(g->p, node);
    if (!f) return false;
    struct translation t = {.g = g, .n = n, .f = f};
    for (int i = 0; i < n->n_in && i < f->n_params; i++)
        t.data[i] = n->in[i] < 0 ? NULL : hd_cpu_const(g->p, n->in[i]);
    for (size_t i = 0; i < f->n_stmts; i++)
        if (!statement(&t, &f->stmt[i])) return false;
    const struct made *y = &t.made[f->result[0]];
    if (y->constant || !shape_fits(&t, f->result[0], &alone) || g->n_values == HD_LOOP_VALUES)
        return false;
    g->value[g->n_values].tensor = n->out[0];
    g->value[g->n_values].ins = y->ins;
    g->value[g->n_values].made = true;
    g->value[g->n_values++].alone = alone;
    g->nodes[g->n_nodes++] = node;
    return true;
}
