/* A node as instructions of a compiled loop: see cpu_loops.h. f32 and truth values only; what is
 * not here goes to golden. The formulas are those of compiler/ir/elem.def. */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "cpu_ref/cpu_loops.h"

#define INS(op, ...)  hd_loop_ins(g, HD_JIT_##op, __VA_ARGS__)
#define UN(op, a)     INS(op, a, 0, 0)
#define BIN(op, a, b) INS(op, a, b, 0)

static int constant(struct hd_loop_group *g, float v) {
    int i = INS(CONST, 0, 0, 0);
    if (i >= 0) g->prog.ins[i].imm = v;
    return i;
}

static bool scalar(const struct hd_cpu_plan *p, int t, float *out) {
    const float *v = hd_cpu_const(p, t);
    if (!v || p->g->tensors[t].dtype != HD_F32 || hd_tensor_elems(&p->g->tensors[t]) != 1)
        return false;
    *out = *v;
    return true;
}

/* cond ? a : b with cond = x < limit */
static int below(struct hd_loop_group *g, int x, float limit, int a, int b) {
    return INS(SELECT, BIN(LESS, x, constant(g, limit)), a, b);
}

static int between(struct hd_loop_group *g, int x, float lo, float hi) {
    return BIN(MIN, BIN(MAX, x, constant(g, lo)), constant(g, hi));
}

static int softplus(struct hd_loop_group *g, int x) {
    int e = UN(EXP, UN(NEG, UN(ABS, x)));
    return BIN(ADD, BIN(MAX, x, constant(g, 0)), UN(LOG, BIN(ADD, constant(g, 1), e)));
}

/* a (exp(x / b) - 1) */
static int exp_less_one(struct hd_loop_group *g, int x, float a, float b) {
    int t = b == 1 ? x : BIN(DIV, x, constant(g, b));
    return BIN(MUL, constant(g, a), BIN(SUB, UN(EXP, t), constant(g, 1)));
}

static int gelu(struct hd_loop_group *g, const struct hd_node *n, int x) {
    int half = BIN(MUL, constant(g, 0.5f), x), t;
    if (!strcmp(hd_attr_string(n, "approximate", "none"), "tanh")) {
        int cube = BIN(MUL, x, BIN(MUL, x, x));
        t = BIN(ADD, x, BIN(MUL, constant(g, 0.044715f), cube));
        t = UN(TANH, BIN(MUL, constant(g, 0.797884561f), t));
    } else {
        t = UN(ERF, BIN(MUL, x, constant(g, 0.707106781f)));
    }
    return BIN(MUL, half, BIN(ADD, constant(g, 1), t));
}

static int sign(struct hd_loop_group *g, int x) {
    int zero = constant(g, 0), less = INS(SELECT, BIN(LESS, x, zero), constant(g, -1), x);
    return INS(SELECT, BIN(LESS, zero, x), constant(g, 1), less);
}

enum kind { NONE, UNARY, BINARY, LOGIC, NOT, REDUCE, OTHER };

/* What is here; jit: of a function that is one instruction, else HD_JIT_CONST. */
static const struct {
    enum kind kind;
    enum hd_jit_op jit;
} known[HD_IR_OPS] = {
#define KNOWN(op, kind) [HD_IR_##op] = {kind, HD_JIT_CONST}
#define DIRECT(op, jit) [HD_IR_##op] = {UNARY, HD_JIT_##jit}
    DIRECT(abs, ABS),
    DIRECT(neg, NEG),
    DIRECT(exp, EXP),
    DIRECT(log, LOG),
    DIRECT(sqrt, SQRT),
    DIRECT(erf, ERF),
    DIRECT(floor, FLOOR),
    DIRECT(ceil, CEIL),
    DIRECT(round, ROUND),
    DIRECT(tanh, TANH),
    DIRECT(sigmoid, SIGMOID),
    KNOWN(relu, UNARY),
    KNOWN(sign, UNARY),
    KNOWN(reciprocal, UNARY),
    KNOWN(gelu, UNARY),
    KNOWN(hardsigmoid, UNARY),
    KNOWN(hardswish, UNARY),
    KNOWN(leakyrelu, UNARY),
    KNOWN(thresholdedrelu, UNARY),
    KNOWN(elu, UNARY),
    KNOWN(celu, UNARY),
    KNOWN(selu, UNARY),
    KNOWN(softplus, UNARY),
    KNOWN(softsign, UNARY),
    KNOWN(mish, UNARY),
    KNOWN(add, BINARY),
    KNOWN(sub, BINARY),
    KNOWN(mul, BINARY),
    KNOWN(div, BINARY),
    KNOWN(max, BINARY),
    KNOWN(min, BINARY),
    KNOWN(prelu, BINARY),
    KNOWN(less, BINARY),
    KNOWN(lessorequal, BINARY),
    KNOWN(greater, BINARY),
    KNOWN(greaterorequal, BINARY),
    KNOWN(equal, BINARY),
    KNOWN(and, LOGIC),
    KNOWN(or, LOGIC),
    KNOWN(xor, LOGIC),
    KNOWN(reducesum, REDUCE),
    KNOWN(reducemean, REDUCE),
    KNOWN(reducemax, REDUCE),
    KNOWN(reducemin, REDUCE),
    KNOWN(reducel1, REDUCE),
    KNOWN(reducel2, REDUCE),
    KNOWN(reducesumsquare, REDUCE),
    KNOWN(reducelogsum, REDUCE),
    KNOWN(reducelogsumexp, REDUCE),
    KNOWN(clip, OTHER),
    KNOWN(pow, OTHER),
    KNOWN(where, OTHER),
    KNOWN(softmax, OTHER),
    KNOWN(logsoftmax, OTHER),
    KNOWN(layernorm, OTHER),
    KNOWN(instancenorm, OTHER),
    KNOWN(batchnorm, OTHER),
    KNOWN(expression, OTHER),
    KNOWN(not, NOT)};

static enum kind kind_of(enum hd_ir_op op) {
    return known[op].kind;
}

/* Operations of one float. -1 = not here. */
static int unary(struct hd_loop_group *g, const struct hd_node *n, int x) {
    float a;
    if (known[n->op].jit != HD_JIT_CONST) return hd_loop_ins(g, known[n->op].jit, x, 0, 0);
    switch (n->op) {
    case HD_IR_relu:
        return below(g, x, 0, constant(g, 0), x);
    case HD_IR_sign:
        return sign(g, x);
    case HD_IR_reciprocal:
        return BIN(DIV, constant(g, 1), x);
    case HD_IR_gelu:
        return gelu(g, n, x);
    case HD_IR_hardsigmoid:
        a = hd_attr_float(n, "alpha", 0.2f);
        x = BIN(ADD, BIN(MUL, constant(g, a), x), constant(g, hd_attr_float(n, "beta", 0.5f)));
        return between(g, x, 0, 1);
    case HD_IR_hardswish: {
        int t = BIN(ADD, BIN(DIV, x, constant(g, 6)), constant(g, 0.5f));
        return BIN(MUL, x, between(g, t, 0, 1));
    }
    case HD_IR_leakyrelu:
        a = hd_attr_float(n, "alpha", 0.01f);
        return below(g, x, 0, BIN(MUL, constant(g, a), x), x);
    case HD_IR_thresholdedrelu:
        a = hd_attr_float(n, "alpha", 1);
        return INS(SELECT, BIN(LESS, constant(g, a), x), x, constant(g, 0));
    case HD_IR_elu:
        return below(g, x, 0, exp_less_one(g, x, hd_attr_float(n, "alpha", 1), 1), x);
    case HD_IR_celu:
        a = hd_attr_float(n, "alpha", 1);
        return below(g, x, 0, exp_less_one(g, x, a, a), x);
    case HD_IR_selu:
        a = hd_attr_float(n, "alpha", 1.67326319217681884765625f);
        x = INS(SELECT, BIN(LESS, constant(g, 0), x), x, exp_less_one(g, x, a, 1));
        return BIN(MUL, constant(g, hd_attr_float(n, "gamma", 1.05070102214813232421875f)), x);
    case HD_IR_softplus:
        return softplus(g, x);
    case HD_IR_softsign:
        return BIN(DIV, x, BIN(ADD, constant(g, 1), UN(ABS, x)));
    case HD_IR_mish:
        return BIN(MUL, x, UN(TANH, softplus(g, x)));
    default:
        return -1;
    }
}

static int clip(struct hd_loop_group *g, const struct hd_node *n, int x) {
    float v;
    if (n->n_in > 1 && n->in[1] >= 0) {
        if (!scalar(g->p, n->in[1], &v)) return -1;
        x = INS(SELECT, BIN(LESS, x, constant(g, v)), constant(g, v), x);
    }
    if (n->n_in > 2 && n->in[2] >= 0) {
        if (!scalar(g->p, n->in[2], &v)) return -1;
        x = INS(SELECT, BIN(LESS, constant(g, v), x), constant(g, v), x);
    }
    return x;
}

/* a to a constant power that few products, a root or a quotient give. */
static int power(struct hd_loop_group *g, const struct hd_node *n, int a) {
    float e;
    if (!scalar(g->p, n->in[1], &e)) return -1;
    if (e == 1) return a;
    if (e == 2) return BIN(MUL, a, a);
    if (e == 3) return BIN(MUL, a, BIN(MUL, a, a));
    if (e == 4) {
        a = BIN(MUL, a, a);
        return BIN(MUL, a, a);
    }
    if (e == 0.5f) return UN(SQRT, a);
    if (e == -0.5f) return BIN(DIV, constant(g, 1), UN(SQRT, a));
    if (e == -1) return BIN(DIV, constant(g, 1), a);
    return -1;
}

static int binary(struct hd_loop_group *g, const struct hd_node *n, int a, int b) {
    switch (n->op) {
    case HD_IR_add:
        return BIN(ADD, a, b);
    case HD_IR_sub:
        return BIN(SUB, a, b);
    case HD_IR_mul:
        return BIN(MUL, a, b);
    case HD_IR_div:
        return BIN(DIV, a, b);
    case HD_IR_max:
        return BIN(MAX, a, b);
    case HD_IR_min:
        return BIN(MIN, a, b);
    case HD_IR_prelu:
        return below(g, a, 0, BIN(MUL, a, b), a);
    case HD_IR_less:
        return BIN(LESS, a, b);
    case HD_IR_lessorequal:
        return BIN(LESS_EQUAL, a, b);
    case HD_IR_greater:
        return BIN(LESS, b, a);
    case HD_IR_greaterorequal:
        return BIN(LESS_EQUAL, b, a);
    case HD_IR_equal:
        return BIN(EQUAL, a, b);
    case HD_IR_and:
        return BIN(AND, a, b);
    case HD_IR_or:
        return BIN(OR, a, b);
    case HD_IR_xor:
        return BIN(XOR, a, b);
    default:
        return -1;
    }
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* The group's reductions run over the last `red` dimensions of x, which has the group's shape. */
static bool reduce_over(struct hd_loop_group *g, const struct hd_tensor *x, int red) {
    if (g->md || red < 1 || x->rank != g->rank || (g->red && g->red != red)) return false;
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != g->dim[d]) return false;
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

static int64_t row_length(const struct hd_loop_group *g) {
    int64_t n = 1;
    for (int d = g->rank - g->red; d < g->rank; d++) n *= g->dim[d];
    return n;
}

static int mean(struct hd_loop_group *g, int x) {
    return BIN(DIV, UN(ROW_SUM, x), constant(g, (float)row_length(g)));
}

/* The set of axes is the last k dimensions (those of size 1 may be in it or not); 0 = it is not. */
static int trailing(const struct hd_loop_group *g, const struct hd_node *n,
                    const struct hd_tensor *x) {
    int64_t axes[HD_MAX_RANK];
    int count = n->n_in > 1 ? hd_cpu_const_ints(g->p, n->in[1], axes, HD_MAX_RANK) : 0;
    if (count < 0 || (!count && hd_attr_int(n, "noop_with_empty_axes", 0))) return 0;
    unsigned set = count ? hd_axes_set(x->rank, count, axes) : ~0u;
    int k = 0;
    for (int d = x->rank - 1; d >= 0 && (set >> d & 1); d--) k++;
    for (int d = 0; d < x->rank - k; d++)
        if ((set >> d & 1) && x->dim[d] != 1) return 0;
    return k;
}

static int reduce(struct hd_loop_group *g, const struct hd_node *n, int x) {
    int t;
    if (!reduce_over(g, &g->p->g->tensors[n->in[0]], trailing(g, n, &g->p->g->tensors[n->in[0]])))
        return -1;
    switch (n->op) {
    case HD_IR_reducesum:
        return UN(ROW_SUM, x);
    case HD_IR_reducemean:
        return mean(g, x);
    case HD_IR_reducemax:
        return UN(ROW_MAX, x);
    case HD_IR_reducemin:
        return UN(ROW_MIN, x);
    case HD_IR_reducel1:
        return UN(ROW_SUM, UN(ABS, x));
    case HD_IR_reducel2:
        return UN(SQRT, UN(ROW_SUM, BIN(MUL, x, x)));
    case HD_IR_reducesumsquare:
        return UN(ROW_SUM, BIN(MUL, x, x));
    case HD_IR_reducelogsum:
        return UN(LOG, UN(ROW_SUM, x));
    case HD_IR_reducelogsumexp:
        t = UN(ROW_MAX, x);
        return BIN(ADD, t, UN(LOG, UN(ROW_SUM, UN(EXP, BIN(SUB, x, t)))));
    default:
        return -1;
    }
}

/* Softmax over the last dimension that is not 1, and its logarithm. */
static int softmax(struct hd_loop_group *g, const struct hd_node *n, int x, bool logarithm) {
    const struct hd_tensor *t = &g->p->g->tensors[n->in[0]];
    int64_t axis = hd_attr_int(n, "axis", -1);
    if (axis < 0) axis += t->rank;
    for (int d = (int)axis + 1; d < t->rank; d++)
        if (t->dim[d] != 1) return -1;
    if (!reduce_over(g, t, t->rank - (int)axis)) return -1;
    int low = BIN(SUB, x, UN(ROW_MAX, x)), e = UN(EXP, low), sum = UN(ROW_SUM, e);
    return logarithm ? BIN(SUB, low, UN(LOG, sum)) : BIN(DIV, e, sum);
}

/* (x - mean) / sqrt(var + epsilon) over the last dimensions. */
static int normalise(struct hd_loop_group *g, const struct hd_node *n, int x, int red) {
    if (!reduce_over(g, &g->p->g->tensors[n->in[0]], red)) return -1;
    int centred = BIN(SUB, x, mean(g, x)), var = mean(g, BIN(MUL, centred, centred));
    int e = constant(g, hd_attr_float(n, "epsilon", 1e-5f));
    return BIN(DIV, centred, UN(SQRT, BIN(ADD, var, e)));
}

static int layernorm(struct hd_loop_group *g, const struct hd_node *n, int x) {
    int rank = g->p->g->tensors[n->in[0]].rank;
    int64_t axis = hd_attr_int(n, "axis", -1);
    if (!hd_attr_int(n, "centred", 1)) return -1;
    for (int i = 1; i < n->n_out; i++)
        if (n->out[i] >= 0) return -1;
    int y = normalise(g, n, x, rank - (int)(axis < 0 ? axis + rank : axis));
    if (y >= 0) y = BIN(MUL, y, hd_loop_value(g, n->in[1]));
    if (y >= 0 && n->n_in > 2 && n->in[2] >= 0) y = BIN(ADD, y, hd_loop_value(g, n->in[2]));
    return y;
}

/* A value per channel (dimension 1). */
static int per_channel(struct hd_loop_group *g, const float *v) {
    int64_t stride[HD_MAX_RANK] = {0, 1};
    return hd_loop_data(g, v, stride);
}

static int instancenorm(struct hd_loop_group *g, const struct hd_node *n, int x) {
    const float *scale = hd_cpu_const(g->p, n->in[1]), *bias = hd_cpu_const(g->p, n->in[2]);
    if (!scale || !bias || g->rank < 3) return -1;
    int y = normalise(g, n, x, g->rank - 2);
    return y < 0 ? -1 : BIN(ADD, BIN(MUL, y, per_channel(g, scale)), per_channel(g, bias));
}

/* x a + b, a = scale / sqrt(var + epsilon), b = bias - mean a, made now. */
static int batchnorm(struct hd_loop_group *g, const struct hd_node *n, int x) {
    const float *v[4];
    if (g->md || g->rank < 2 || n->n_out > 1) return -1;
    for (int i = 0; i < 4; i++) {
        v[i] = hd_cpu_const(g->p, n->in[1 + i]);
        if (!v[i] || g->p->g->tensors[n->in[1 + i]].dtype != HD_F32) return -1;
    }
    int64_t c = g->dim[1];
    float *a = hd_new_array(g->p->arena, float, (size_t)c),
          *b = hd_new_array(g->p->arena, float, (size_t)c);
    double e = (double)hd_attr_float(n, "epsilon", 1e-5f);
    for (int64_t i = 0; i < c; i++) {
        double k = (double)v[0][i] / sqrt((double)v[3][i] + e);
        a[i] = (float)k;
        b[i] = (float)((double)v[1][i] - (double)v[2][i] * k);
    }
    return BIN(ADD, BIN(MUL, x, per_channel(g, a)), per_channel(g, b));
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static bool type_is(const struct hd_cpu_plan *p, int t, hd_dtype type) {
    return t >= 0 && p->g->tensors[t].dtype == type;
}

bool hd_loop_knows(const struct hd_cpu_plan *p, int node) {
    const struct hd_node *n = &p->g->nodes[node];
    enum kind k = kind_of(n->op);
    if (k == NONE || n->n_out < 1 || n->out[0] < 0 || n->n_in < 1) return false;
    int x = n->op == HD_IR_where ? 1 : 0;
    for (int i = 0; i < n->n_in && (k == BINARY || k == LOGIC || k == NOT); i++)
        if (!type_is(p, n->in[i], k == BINARY ? HD_F32 : HD_BOOL)) return false;
    return k == LOGIC || k == NOT || type_is(p, n->in[x], HD_F32);
}

static int other(struct hd_loop_group *g, const struct hd_node *n, int x) {
    switch (n->op) {
    case HD_IR_clip:
        return clip(g, n, x);
    case HD_IR_pow:
        return power(g, n, x);
    case HD_IR_where:
        return type_is(g->p, n->in[2], HD_F32)
                   ? INS(SELECT, x, hd_loop_value(g, n->in[1]), hd_loop_value(g, n->in[2]))
                   : -1;
    case HD_IR_softmax:
    case HD_IR_logsoftmax:
        return softmax(g, n, x, n->op == HD_IR_logsoftmax);
    case HD_IR_layernorm:
        return layernorm(g, n, x);
    case HD_IR_instancenorm:
        return instancenorm(g, n, x);
    case HD_IR_expression:
        return hd_loop_custom(g, n);
    default:
        return batchnorm(g, n, x);
    }
}

/* The result has the group's shape, or the shape of its rows where every operand has. */
static bool shape_fits(const struct hd_loop_group *g, const struct hd_node *n) {
    const struct hd_tensor *y = &g->p->g->tensors[n->out[0]];
    bool full = y->rank == g->rank, row = hd_loop_row_shape(g, y);
    for (int d = 0; d < y->rank && full; d++) full = y->dim[d] == g->dim[d];
    if (kind_of(n->op) == REDUCE) return true; /* reduce_over looks at its operand */
    if (kind_of(n->op) == OTHER && n->op != HD_IR_clip && n->op != HD_IR_pow &&
        n->op != HD_IR_where)
        return full;
    return full || row;
}

bool hd_loop_add(struct hd_loop_group *g, int node) {
    const struct hd_node *n = &g->p->g->nodes[node];
    enum kind k = kind_of(n->op);
    if (!hd_loop_knows(g->p, node) || !shape_fits(g, n) || g->n_nodes == HD_LOOP_VALUES)
        return false;
    int x = hd_loop_value(g, n->in[0]), y = -1;
    if (x < 0) return false;
    if (k == UNARY)
        y = unary(g, n, x);
    else if (k == BINARY || k == LOGIC)
        y = binary(g, n, x, hd_loop_value(g, n->in[1]));
    else if (k == NOT)
        y = UN(NOT, x);
    else if (k == REDUCE)
        y = reduce(g, n, x);
    else
        y = other(g, n, x);
    if (y < 0 || g->n_values == HD_LOOP_VALUES) return false;
    g->value[g->n_values].tensor = n->out[0];
    g->value[g->n_values].ins = y;
    g->value[g->n_values].made = true;
    g->value[g->n_values++].alone =
        k == REDUCE && !hd_loop_row_shape(g, &g->p->g->tensors[n->out[0]]);
    g->nodes[g->n_nodes++] = node;
    return true;
}
