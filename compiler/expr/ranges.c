/* Binding: ranges of index variables, shapes of definitions, accesses inside their tensors.
 *
 * The range of a variable is, in this order: its limit; the declared size of the result; the
 * dimension that it indexes alone; else the largest range for which every index that it is the last
 * open variable of stays inside its dimension. */
#include <string.h>

#include "compiler/expr/expr_int.h"

enum { MAX_EXTENT = 1 << 30 };

struct linear { /* constant + sum of factor[v] * variable v */
    int64_t constant, factor[HD_EXPR_VARS];
};

static bool linear(const struct hd_expr *f, int node, struct linear *out) {
    const struct hd_expr_node *k = &f->node[node];
    struct linear a, b;
    memset(out, 0, sizeof *out);
    bool over = false;
    switch (k->op) {
    case HD_EXPR_INT:
        out->constant = k->i;
        return true;
    case HD_EXPR_VAR:
        out->factor[k->i] = 1;
        return true;
    case HD_EXPR_add:
    case HD_EXPR_sub:
        if (!linear(f, k->arg[0], &a) || !linear(f, k->arg[1], &b)) return false;
        for (int i = -1; i < HD_EXPR_VARS; i++) {
            int64_t x = i < 0 ? a.constant : a.factor[i], y = i < 0 ? b.constant : b.factor[i];
            int64_t *z = i < 0 ? &out->constant : &out->factor[i];
            over |= k->op == HD_EXPR_add ? __builtin_add_overflow(x, y, z)
                                         : __builtin_sub_overflow(x, y, z);
        }
        return !over;
    case HD_EXPR_neg:
        if (!linear(f, k->arg[0], &a)) return false;
        for (int i = 0; i < HD_EXPR_VARS; i++)
            over |= __builtin_sub_overflow(0, a.factor[i], &out->factor[i]);
        return !(over | __builtin_sub_overflow(0, a.constant, &out->constant));
    case HD_EXPR_mul:
        if (!linear(f, k->arg[0], &a) || !linear(f, k->arg[1], &b)) return false;
        for (int side = 0; side < 2; side++) {
            const struct linear *c = side ? &a : &b, *v = side ? &b : &a;
            bool constant = true;
            for (int i = 0; i < HD_EXPR_VARS; i++) constant = constant && !c->factor[i];
            if (!constant) continue;
            for (int i = 0; i < HD_EXPR_VARS; i++)
                over |= __builtin_mul_overflow(c->constant, v->factor[i], &out->factor[i]);
            return !(over | __builtin_mul_overflow(c->constant, v->constant, &out->constant));
        }
        return false;
    default:
        return false;
    }
}

bool hd_expr_constant(const struct hd_expr *f, int node, int64_t *out) {
    const struct hd_expr_node *k = &f->node[node];
    int64_t v[2] = {0, 0};
    if (k->op == HD_EXPR_INT) {
        *out = k->i;
        return true;
    }
    if (hd_expr_infos[k->op].form == HD_FORM_OTHER || hd_expr_infos[k->op].truth) return false;
    for (int i = 0; i < k->n; i++)
        if (!hd_expr_constant(f, k->arg[i], &v[i])) return false;
    if (!(hd_expr_infos[k->op].types & HD_SET_INT)) return false;
    const union hd_scalar a = {.i = v[0]}, b = {.i = v[1]};
    *out = hd_scalar_apply(k->op, HD_I64, a, b).i;
    return true;
}

/* ---- ranges --------------------------------------------------------------------------------- */

struct ranger {
    hd_ctx *ctx;
    struct hd_expr *f;
    struct hd_expr_stmt *s;
    int64_t best[HD_EXPR_VARS]; /* of this round; -1 = nothing said */
    bool alone;                 /* this round looks at indexes that are one variable */
};

static hd_status fix(struct ranger *r, int var, int64_t extent, int at) {
    struct hd_expr_var *v = &r->s->var[var];
    if (extent < 0 || extent > MAX_EXTENT)
        return hd_expr_fail(r->ctx, r->f, at, "the range of '%s' is %lld long, allowed 0 to %d",
                            v->name, (long long)extent, MAX_EXTENT);
    v->extent = extent;
    return HD_OK;
}

static hd_status from_alone(struct ranger *r, const struct hd_expr_node *k, int var, int64_t size) {
    struct hd_expr_var *v = &r->s->var[var];
    if (v->where >= 0 || (v->extent >= 0 && r->best[var] < 0)) return HD_OK;
    if (r->best[var] >= 0 && r->best[var] != size)
        return hd_expr_fail(r->ctx, r->f, k->at,
                            "'%s' runs over %lld here and over %lld before; say which, as in where "
                            "%s < %lld",
                            v->name, (long long)size, (long long)r->best[var], v->name,
                            (long long)(size < r->best[var] ? size : r->best[var]));
    r->best[var] = size;
    return HD_OK;
}

/* index <= size - 1 and index >= 0 for the one variable without a range. */
static void from_linear(struct ranger *r, const struct linear *x, int64_t size) {
    int open = -1;
    int64_t low = x->constant, high = x->constant;
    for (int v = 0; v < r->s->n_vars; v++) {
        int64_t c = x->factor[v], extent = r->s->var[v].extent;
        if (!c) continue;
        if (extent < 0) {
            if (open >= 0) return;
            open = v;
            continue;
        }
        if (extent == 0) continue;
        if (c > MAX_EXTENT || c < -MAX_EXTENT) return;
        *(c > 0 ? &high : &low) += c * (extent - 1);
    }
    if (open < 0) return;
    int64_t c = x->factor[open], room = c > 0 ? size - 1 - high : low;
    if (c == INT64_MIN) return;
    int64_t extent = room < 0 ? 0 : room / (c > 0 ? c : -c) + 1;
    if (r->best[open] < 0 || extent < r->best[open]) r->best[open] = extent;
}

static hd_status look(struct ranger *r, int node, bool padded) {
    const struct hd_expr_node *k = &r->f->node[node];
    for (int i = 0; i < k->n; i++) TRY(look(r, k->arg[i], k->op == HD_EXPR_PAD && i == 0));
    if (k->op != HD_EXPR_ACCESS) return HD_OK;
    const struct hd_expr_tensor *t = &r->f->tensor[k->i];
    for (int d = 0; d < k->n; d++) {
        const struct hd_expr_node *index = &r->f->node[k->arg[d]];
        struct linear x;
        if (index->op == HD_EXPR_VAR) {
            if (r->alone) TRY(from_alone(r, index, (int)index->i, t->dim[d].value));
        } else if (!r->alone && !padded && linear(r->f, k->arg[d], &x)) {
            from_linear(r, &x, t->dim[d].value);
        }
    }
    return HD_OK;
}

static hd_status take_best(struct ranger *r, bool *out_any) {
    *out_any = false;
    for (int v = 0; v < r->s->n_vars; v++)
        if (r->best[v] >= 0 && r->s->var[v].extent < 0) {
            TRY(fix(r, v, r->best[v], r->s->at));
            *out_any = true;
        }
    return HD_OK;
}

static hd_status stated(struct ranger *r) {
    struct hd_expr_stmt *s = r->s;
    const struct hd_expr_tensor *y = &r->f->tensor[s->tensor];
    if (y->rank >= 0 && y->rank != s->rank)
        return hd_expr_fail(r->ctx, r->f, s->at, "'%s' has %d indexes, declared %d", y->name,
                            s->rank, y->rank);
    for (int v = 0; v < s->n_vars; v++) {
        int64_t limit;
        if (s->var[v].where < 0) continue;
        if (!hd_expr_constant(r->f, s->var[v].where, &limit))
            return hd_expr_fail(r->ctx, r->f, r->f->node[s->var[v].where].at,
                                "a limit is an integer");
        TRY(fix(r, v, limit, r->f->node[s->var[v].where].at));
    }
    for (int d = 0; d < y->rank; d++)
        if (s->var[s->lhs[d]].extent < 0 && !y->dim[d].rest)
            TRY(fix(r, s->lhs[d], y->dim[d].value, s->at));
    return HD_OK;
}

static hd_status shape(struct ranger *r) {
    struct hd_expr_stmt *s = r->s;
    struct hd_expr_tensor *y = &r->f->tensor[s->tensor];
    int64_t bytes = 8;
    for (int d = 0; d < s->rank; d++) {
        int64_t size = s->var[s->lhs[d]].extent;
        if (y->rank >= 0 && !y->dim[d].rest && y->dim[d].value != size)
            return hd_expr_fail(r->ctx, r->f, s->at, "dimension %d of '%s' is %lld, declared %lld",
                                d, y->name, (long long)size, (long long)y->dim[d].value);
        if (__builtin_mul_overflow(bytes, size, &bytes) || bytes > INT64_C(1) << 33)
            return hd_expr_fail(r->ctx, r->f, s->at, "'%s' has more than %d elements", y->name,
                                1 << 30);
    }
    y->rank = s->rank;
    for (int d = 0; d < s->rank; d++)
        y->dim[d] = (struct hd_expr_size){.value = s->var[s->lhs[d]].extent};
    return HD_OK;
}

hd_status hd_expr_ranges(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s) {
    struct ranger r = {.ctx = ctx, .f = f, .s = s, .alone = true};
    bool any = true;
    TRY(stated(&r));
    for (int round = 0; any; round++) {
        for (int v = 0; v < HD_EXPR_VARS; v++) r.best[v] = -1;
        r.alone = round == 0;
        TRY(look(&r, s->value, false));
        TRY(take_best(&r, &any));
        any = any || round == 0;
    }
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].extent < 0)
            return hd_expr_fail(ctx, f, s->at,
                                "the range of '%s' is open; say it, as in where %s < 8",
                                s->var[v].name, s->var[v].name);
    return shape(&r);
}

/* ---- accesses ------------------------------------------------------------------------------- */

struct span {
    int64_t lo, hi;
};

static const struct span any_value = {INT64_MIN, INT64_MAX};

static struct span corners(enum hd_expr_op op, struct span a, struct span b) {
    struct span out = any_value;
    for (int i = 0; i < 4; i++) {
        int64_t x = i & 1 ? a.hi : a.lo, y = i & 2 ? b.hi : b.lo, z;
        bool over = op == HD_EXPR_add   ? __builtin_add_overflow(x, y, &z)
                    : op == HD_EXPR_sub ? __builtin_sub_overflow(x, y, &z)
                                        : __builtin_mul_overflow(x, y, &z);
        if (over) return any_value; /* it wraps */
        if (i == 0 || z < out.lo) out.lo = z;
        if (i == 0 || z > out.hi) out.hi = z;
    }
    return out;
}

/* Least and greatest of both ends. */
static struct span by_ends(enum hd_expr_op op, struct span a, struct span b) {
    bool max = op == HD_EXPR_max;
    return (struct span){(a.lo < b.lo) != max ? a.lo : b.lo, (a.hi < b.hi) != max ? a.hi : b.hi};
}

/* Values that an integer node takes. */
static struct span span_of(const struct hd_expr *f, const struct hd_expr_stmt *s, int node) {
    const struct hd_expr_node *k = &f->node[node];
    struct linear x;
    if (linear(f, node, &x)) {
        struct span y = {x.constant, x.constant};
        for (int v = 0; v < s->n_vars; v++) {
            struct span c = {x.factor[v], x.factor[v]}, range = {0, s->var[v].extent - 1};
            if (x.factor[v]) y = corners(HD_EXPR_add, y, corners(HD_EXPR_mul, c, range));
        }
        return y;
    }
    if (k->op == HD_EXPR_SELECT) {
        struct span a = span_of(f, s, k->arg[1]), b = span_of(f, s, k->arg[2]);
        return (struct span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    }
    if (hd_expr_infos[k->op].form != HD_FORM_INFIX && k->op != HD_EXPR_min && k->op != HD_EXPR_max)
        return any_value;
    struct span a = span_of(f, s, k->arg[0]), b = span_of(f, s, k->arg[1]);
    bool by_constant = b.lo == b.hi && b.lo > 0;
    switch (k->op) {
    case HD_EXPR_add:
    case HD_EXPR_sub:
    case HD_EXPR_mul:
        return corners(k->op, a, b);
    case HD_EXPR_div:
        return by_constant ? (struct span){a.lo / b.lo, a.hi / b.lo} : any_value;
    case HD_EXPR_mod:
        if (!by_constant) return any_value;
        if (a.lo >= 0 && a.hi < b.lo) return a;
        return (struct span){a.lo < 0 ? 1 - b.lo : 0, b.lo - 1};
    case HD_EXPR_min:
    case HD_EXPR_max:
        return by_ends(k->op, a, b);
    default:
        return any_value;
    }
}

static bool reads_tensor(const struct hd_expr *f, int node) {
    const struct hd_expr_node *k = &f->node[node];
    for (int i = 0; i < k->n; i++)
        if (reads_tensor(f, k->arg[i])) return true;
    return k->op == HD_EXPR_ACCESS;
}

static hd_status inside(hd_ctx *ctx, struct hd_expr *f, const struct hd_expr_stmt *s, int node,
                        bool padded) {
    struct hd_expr_node *k = &f->node[node];
    for (int i = 0; i < k->n; i++)
        TRY(inside(ctx, f, s, k->arg[i], k->op == HD_EXPR_PAD && i == 0));
    if (k->op != HD_EXPR_ACCESS || padded) return HD_OK;
    const struct hd_expr_tensor *t = &f->tensor[k->i];
    for (int d = 0; d < k->n; d++) {
        struct span x = span_of(f, s, k->arg[d]);
        if (x.lo >= 0 && x.hi < t->dim[d].value) continue;
        if (reads_tensor(f, k->arg[d])) {
            k->checked = true;
            continue;
        }
        if (x.lo == INT64_MIN || x.hi == INT64_MAX)
            return hd_expr_fail(ctx, f, f->node[k->arg[d]].at,
                                "index %d of '%s' has no bounds that are known; use + - * / %% min "
                                "max with constants, or pad(...)",
                                d, t->name);
        return hd_expr_fail(ctx, f, f->node[k->arg[d]].at,
                            "index %d of '%s' runs from %lld to %lld, allowed 0 to %lld; or read "
                            "pad(%s[...], 0)",
                            d, t->name, (long long)x.lo, (long long)x.hi,
                            (long long)t->dim[d].value - 1, t->name);
    }
    return HD_OK;
}

hd_status hd_expr_bounds(hd_ctx *ctx, struct hd_expr *f, struct hd_expr_stmt *s) {
    for (int v = 0; v < s->n_vars; v++)
        if (s->var[v].extent == 0) return HD_OK; /* nothing is read */
    return inside(ctx, f, s, s->value, false);
}
