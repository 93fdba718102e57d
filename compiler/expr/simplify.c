/* Arithmetic of indexes whose value, or whose range, is known. */
#include "compiler/expr/expr_int.h"
#include "compiler/expr/rewrite.h"

struct simplifier {
    struct hd_expr *f;
    const int64_t *extent;
};

#define MOST (INT64_C(1) << 31)

/* Least and largest value of an index; false = not known. */
static bool range(const struct simplifier *s, int node, int64_t *lo, int64_t *hi) {
    const struct hd_expr_node *k = &s->f->node[node];
    int64_t a, b, c, d;
    if (k->op == HD_EXPR_INT) {
        *lo = *hi = k->i;
        return k->i > -MOST && k->i < MOST;
    }
    if (k->op == HD_EXPR_VAR) {
        *lo = 0;
        *hi = s->extent[k->i] - 1;
        return *hi >= 0 && *hi < MOST;
    }
    if (k->n != 2 || k->type != HD_I64) return false;
    if (!range(s, k->arg[0], &a, &b) || !range(s, k->arg[1], &c, &d)) return false;
    if (a < -MOST || b > MOST || c < -MOST || d > MOST) return false;
    if (k->op == HD_EXPR_add) {
        *lo = a + c, *hi = b + d;
        return true;
    }
    if (k->op == HD_EXPR_sub) {
        *lo = a - d, *hi = b - c;
        return true;
    }
    if (a < 0 || c < 0) return false;
    if (k->op == HD_EXPR_mul)
        *lo = a * c, *hi = b * d;
    else if (k->op == HD_EXPR_div && c == d && c > 0)
        *lo = a / c, *hi = b / c;
    else if (k->op == HD_EXPR_mod && c == d && c > 0)
        *lo = 0, *hi = b < c ? b : c - 1;
    else
        return false;
    return true;
}

static bool is_int(const struct simplifier *s, int node, int64_t v) {
    return s->f->node[node].op == HD_EXPR_INT && s->f->node[node].i == v;
}

static int constant(struct simplifier *s, int node, int64_t v) {
    struct hd_expr_node *k = &s->f->node[node];
    k->op = HD_EXPR_INT;
    k->n = 0;
    k->i = v;
    k->f = (double)v;
    return node;
}

/* (a * n + b) / n and % n of a b below n: a and b; -1 = it is not of this form. */
static int whole_part(const struct simplifier *s, const struct hd_expr_node *k) {
    const struct hd_expr_node *sum = &s->f->node[k->arg[0]], *n = &s->f->node[k->arg[1]];
    int64_t lo, hi;
    if (sum->op != HD_EXPR_add || n->op != HD_EXPR_INT) return -1;
    const struct hd_expr_node *a = &s->f->node[sum->arg[0]];
    if (a->op != HD_EXPR_mul || !is_int(s, a->arg[1], n->i)) return -1;
    if (!range(s, a->arg[0], &lo, &hi) || lo < 0) return -1;
    if (!range(s, sum->arg[1], &lo, &hi) || lo < 0 || hi >= n->i) return -1;
    return k->op == HD_EXPR_div ? a->arg[0] : sum->arg[1];
}

/* The operand that the node is equal to; -1 = none. */
static int equal_to(const struct simplifier *s, const struct hd_expr_node *k) {
    int64_t lo, hi;
    int a = k->arg[0], b = k->arg[1];
    switch (k->op) {
    case HD_EXPR_add:
        return is_int(s, b, 0) ? a : is_int(s, a, 0) ? b : -1;
    case HD_EXPR_sub:
        return is_int(s, b, 0) ? a : -1;
    case HD_EXPR_mul:
        return is_int(s, b, 1) || is_int(s, a, 0) ? a : is_int(s, a, 1) || is_int(s, b, 0) ? b : -1;
    case HD_EXPR_div:
        return is_int(s, b, 1) ? a : whole_part(s, k);
    case HD_EXPR_mod:
        if (s->f->node[b].op == HD_EXPR_INT && range(s, a, &lo, &hi) && lo >= 0 &&
            hi < s->f->node[b].i)
            return a;
        return whole_part(s, k);
    default:
        return -1;
    }
}

/* 1 or 0 for a comparison that holds always or never; -1 = it depends. */
static int holds(const struct simplifier *s, const struct hd_expr_node *k) {
    int64_t a, b, c, d;
    if (s->f->node[k->arg[0]].type != HD_I64) return -1;
    if (!range(s, k->arg[0], &a, &b) || !range(s, k->arg[1], &c, &d)) return -1;
    switch (k->op) {
    case HD_EXPR_lt:
        return b < c ? 1 : a >= d ? 0 : -1;
    case HD_EXPR_ge:
        return a >= d ? 1 : b < c ? 0 : -1;
    case HD_EXPR_le:
        return b <= c ? 1 : a > d ? 0 : -1;
    case HD_EXPR_gt:
        return a > d ? 1 : b <= c ? 0 : -1;
    default:
        return -1;
    }
}

static int truth(struct simplifier *s, int node) {
    const struct hd_expr_node *k = &s->f->node[node];
    if (k->op == HD_EXPR_and && k->type == HD_BOOL) {
        if (is_int(s, k->arg[0], 1)) return k->arg[1];
        if (is_int(s, k->arg[1], 1)) return k->arg[0];
        return is_int(s, k->arg[0], 0) || is_int(s, k->arg[1], 0) ? constant(s, node, 0) : node;
    }
    int always = k->n == 2 && hd_expr_infos[k->op].truth ? holds(s, k) : -1;
    return always < 0 ? node : constant(s, node, always);
}

static bool inside(const struct simplifier *s, const struct hd_expr_node *access) {
    int64_t lo, hi;
    for (int d = 0; d < access->n; d++)
        if (!range(s, access->arg[d], &lo, &hi) || lo < 0 ||
            hi >= s->f->tensor[access->i].dim[d].value)
            return false;
    return true;
}

/* Limits of an integer: max(x, lo), min(x, hi) and both. */
static bool limit(const struct simplifier *s, int node, enum hd_expr_op op, int *out_x,
                  int64_t *out) {
    const struct hd_expr_node *k = &s->f->node[node];
    for (int i = 0; i < 2 && k->op == op && k->type == HD_I32; i++)
        if (s->f->node[k->arg[i]].op == HD_EXPR_INT) {
            *out = s->f->node[k->arg[i]].i;
            *out_x = k->arg[1 - i];
            return true;
        }
    return false;
}

static bool clamp(const struct simplifier *s, int node, int *out_x, int64_t *lo, int64_t *hi) {
    int x;
    return limit(s, node, HD_EXPR_min, &x, hi) && limit(s, x, HD_EXPR_max, out_x, lo);
}

/* The operand of min(x, n) or max(x, n) that is no number; that which is becomes n. */
static int inner_of(const struct simplifier *s, int node) {
    const struct hd_expr_node *k = &s->f->node[node];
    return k->arg[s->f->node[k->arg[0]].op == HD_EXPR_INT];
}

static void set_limit(struct simplifier *s, int node, int64_t n) {
    const struct hd_expr_node *k = &s->f->node[node];
    constant(s, k->arg[s->f->node[k->arg[0]].op != HD_EXPR_INT], n);
}

/* clamp(clamp(x, a, b) + c, lo, hi) is clamp(x, lo - c, hi - c) + c when that is the narrower one:
 * what keeps the sum from overflow is not needed then. */
static void one_clamp(struct simplifier *s, int node) {
    int64_t lo, hi, a, b, c = 0;
    int sum, x;
    if (!clamp(s, node, &sum, &lo, &hi)) return;
    struct hd_expr_node *k = &s->f->node[sum];
    int inner = sum, at = -1;
    if (k->op == HD_EXPR_add && k->type == HD_I32) {
        for (int i = 0; i < 2; i++)
            if (s->f->node[k->arg[i]].op == HD_EXPR_INT) at = i;
        if (at < 0) return;
        c = s->f->node[k->arg[at]].i;
        inner = k->arg[1 - at];
    }
    if (!clamp(s, inner, &x, &a, &b) || a > lo - c || b < hi - c || lo > hi) return;
    set_limit(s, inner, hi - c);
    set_limit(s, inner_of(s, inner), lo - c);
    s->f->node[node] = s->f->node[c ? sum : inner];
}

static int simplify(struct simplifier *s, int node) {
    struct hd_expr_node *k = &s->f->node[node];
    int64_t lo, hi;
    for (int i = 0; i < k->n; i++) {
        int arg = simplify(s, k->arg[i]);
        k->arg[i] = arg;
    }
    if (k->op == HD_EXPR_PAD && inside(s, &s->f->node[k->arg[0]])) return k->arg[0];
    if (k->op == HD_EXPR_SELECT && s->f->node[k->arg[0]].op == HD_EXPR_INT)
        return k->arg[s->f->node[k->arg[0]].i ? 1 : 2];
    if (k->type == HD_BOOL) return truth(s, node);
    if (k->type == HD_I32 && k->op == HD_EXPR_min) one_clamp(s, node);
    if (k->type != HD_I64 || (k->n != 2 && k->op != HD_EXPR_VAR)) return node;
    if (range(s, node, &lo, &hi) && lo == hi) return constant(s, node, lo);
    int same = k->n == 2 ? equal_to(s, k) : -1;
    return same >= 0 ? same : node;
}

int hd_expr_simplify_node(struct hd_expr *f, int node, const int64_t *extent) {
    struct simplifier s = {f, extent};
    return simplify(&s, node);
}

void hd_expr_simplify(struct hd_expr *f) {
    for (size_t i = 0; i < f->n_stmts; i++) {
        struct hd_expr_stmt *s = &f->stmt[i];
        int64_t extent[HD_EXPR_VARS];
        for (int v = 0; v < s->n_vars; v++) extent[v] = s->var[v].extent;
        s->value = hd_expr_simplify_node(f, s->value, extent);
    }
}
